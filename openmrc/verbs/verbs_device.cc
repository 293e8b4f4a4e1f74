// SPDX-License-Identifier: BSD-3-Clause
// Discovery: devices and contexts.
#include <endian.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "openmrc/verbs/device_files.h"
#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_real.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

template <std::size_t kSize>
void copy_text(const std::string& text, char (&to)[kSize]) {
  std::snprintf(to, kSize, "%s", text.c_str());
}

// Drivers of real devices look behind what they are given, to see whether it is theirs: what they
// compare there is a pointer of their own, which zeros are not.
struct RoomForDrivers {
  ibv_device verbs{};
  std::array<std::byte, 128> zeros{};  // rdma-core's struct verbs_device has 56 more bytes
};

ibv_device* make_device() {
  const Device* device = Device::of_process();
  if (device == nullptr) {
    // Who has configured nothing, and has a library that looks for devices, asks for no word of us.
    if (host::is_configured() || !has_real_library()) {
      std::fprintf(stderr, "openmrc: there is no device openmrc0: %s\n", Device::why().c_str());
    }
    return nullptr;
  }
  ibv_device* made = &(new RoomForDrivers)->verbs;  // stays: applications keep pointers to it
  made->node_type = IBV_NODE_CA;
  made->transport_type = IBV_TRANSPORT_IB;
  copy_text(device->name(), made->name);
  copy_text(std::string(kDeviceFile), made->dev_name);
  copy_text("/sys/class/infiniband_verbs/" + std::string(kDeviceFile), made->dev_path);
  copy_text("/sys/class/infiniband/" + device->name(), made->ibdev_path);
  return made;
}

// Pointers to functions of all kinds that nothing is behind.
void* refuse_slot() { return null(EOPNOTSUPP); }

ibv_context_ops make_operations() {
  std::array<void* (*)(), sizeof(ibv_context_ops) / sizeof(void*)> slots{};
  slots.fill(refuse_slot);
  auto operations = std::bit_cast<ibv_context_ops>(slots);
  operations._compat_query_device = soft_verbs::ibv_query_device;
  operations._compat_query_port = soft_verbs::ibv_query_port;
  operations.alloc_mw = [](ibv_pd*, ibv_mw_type) -> ibv_mw* { return null(EOPNOTSUPP); };
  operations.bind_mw = [](ibv_qp*, ibv_mw*, ibv_mw_bind*) { return fail(EOPNOTSUPP); };
  operations.dealloc_mw = [](ibv_mw*) { return fail(EOPNOTSUPP); };
  operations.poll_cq = soft_verbs::poll_cq;
  operations.req_notify_cq = soft_verbs::req_notify_cq;
  operations.post_send = soft_verbs::post_send;
  operations.post_recv = soft_verbs::post_recv;
  operations.post_srq_recv = soft_verbs::post_srq_recv;
  return operations;
}

}  // namespace

ibv_device* soft_device() {
  static ibv_device* const kDevice = make_device();
  return kDevice;
}

namespace soft_verbs {

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

__be64 ibv_get_device_guid(ibv_device* /*device*/) { return htobe64(Device::of_process()->guid()); }

int ibv_get_device_index(ibv_device* /*device*/) { return -1; }

ibv_context* ibv_open_device(ibv_device* device) {
  if (in_forked_child()) return null(kForkedError);
  auto opened = std::make_unique<verbs_context>();
  opened->sz = sizeof(verbs_context);
  opened->query_port = query_port;
  opened->query_device_ex = query_device_ex;
  opened->query_rt_values = query_rt_values;
  opened->create_cq_ex = create_cq_ex;
  opened->create_qp_ex = create_qp_ex;
  ibv_context& context = opened->context;
  context.device = device;
  context.ops = make_operations();
  context.cmd_fd = -1;
  context.num_comp_vectors = 1;
  context.abi_compat = std::bit_cast<void*>(UINTPTR_MAX);  // it is a verbs_context
  context.async_fd = open_async_events(&context);
  if (context.async_fd < 0) return nullptr;
  try {
    add_context(&context, *Device::of_process());
  } catch (...) {
    close_async_events(&context);
    throw;
  }
  pthread_mutex_init(&context.mutex, nullptr);
  return &opened.release()->context;
}

int ibv_close_device(ibv_context* context) {
  remove_context(context);
  close_async_events(context);
  pthread_mutex_destroy(&context->mutex);
  delete verbs_get_ctx(context);
  return 0;
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc

using namespace openmrc::libmrc;  // NOLINT: the functions below are public

extern "C" {

// The array that is handed out has one more element in front: the list of the real library.
ibv_device** ibv_get_device_list(int* num_devices) try {
  static constinit const RealVerb<ibv_device**(int*)> kReal("ibv_get_device_list", "IBVERBS_1.1");
  ibv_device* const soft = in_forked_child() ? nullptr : soft_device();
  int real_count = 0;
  ibv_device** real_list = kReal.call(nullptr, &real_count);
  if (real_list == nullptr && soft == nullptr && kReal.is_there()) {  // errno is its own
    if (num_devices != nullptr) *num_devices = 0;
    return nullptr;
  }
  std::vector<ibv_device*> devices;
  if (soft != nullptr) devices.push_back(soft);
  for (int i = 0; real_list != nullptr && i < real_count; ++i) devices.push_back(real_list[i]);

  auto** list = new ibv_device*[devices.size() + 2]();
  list[0] = reinterpret_cast<ibv_device*>(real_list);
  std::ranges::copy(devices, list + 1);
  if (num_devices != nullptr) *num_devices = static_cast<int>(devices.size());
  return list + 1;
} catch (const std::exception&) {
  return null(ENOMEM);
}

void ibv_free_device_list(ibv_device** list) {
  static constinit const RealVerb<void(ibv_device**)> kReal("ibv_free_device_list", "IBVERBS_1.1");
  if (list == nullptr) return;
  auto** real_list = reinterpret_cast<ibv_device**>(list[-1]);
  if (real_list != nullptr) kReal.call(0, real_list);
  delete[] (list - 1);
}

}  // extern "C"
