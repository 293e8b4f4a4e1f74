// SPDX-License-Identifier: BSD-3-Clause
// What the C interface costs over the runtime behind it. Both send through the same shard of the
// same process, in turns: one after the other for small writes, slice by slice for large ones.
#include <fmt/core.h>
#include <mrc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "openmrc/host/clock.h"
#include "openmrc/verbs/device.h"

namespace {

using namespace openmrc;

constexpr std::uint32_t kLarge = 256 * 1024;
constexpr int kDepth = 8;
constexpr Duration kSlice = milliseconds(50);
constexpr int kSlices = 100;
constexpr int kPairs = 20'000;
constexpr std::size_t kGid = libmrc::Device::kGidFirstPlane;

[[noreturn]] void give_up(const char* what) {
  fmt::print(stderr, "c_interface: {}: {}\n", what, std::strerror(errno));
  std::exit(1);
}

void use_loopback() {
  const auto file = std::filesystem::temp_directory_path() /
                    ("openmrc-bench-" + std::to_string(getpid()) + ".toml");
  std::ofstream(file) << "name = \"here\"\nmode = \"udp\"\nprogress = \"poll\"\n"
                         "[[port]]\ninterface = \"lo\"\naddress = \"::1\"\n"
                         "[transport]\nudp_port = 24799\nevs = 4\nbase_rtt = \"1ms\"\n";
  setenv("OPENMRC_CONFIG", file.c_str(), 1);
  std::atexit([] { std::filesystem::remove(getenv("OPENMRC_CONFIG")); });
}

// One way to send: posts a write of so many bytes, or fetches how many are done.
struct Way {
  std::function<bool(std::uint32_t length)> post;
  std::function<int()> done;
};

// A write, and how long until its completion has been fetched.
std::int64_t small_write_ns(const Way& way) {
  const Instant begin = host::now();
  if (!way.post(8)) give_up("a small write");
  while (way.done() == 0) {
  }
  return (host::now() - begin).raw();
}

// Bytes in a slice of time.
std::int64_t large_writes(const Way& way) {
  const Instant end = host::now() + kSlice;
  std::int64_t posted = 0;
  std::int64_t done = 0;
  while (host::now() < end || done < posted) {
    while (host::now() < end && posted - done < kDepth && way.post(kLarge)) ++posted;
    done += way.done();
  }
  return done * kLarge;
}

class Runtime {
 public:
  Runtime(host::Host& host, std::span<std::byte> memory)
      : queue_(host.create_completion_queue()),
        region_(std::move(*host.register_memory(memory))),
        sender_(std::move(*host.create_queue_pair({.writes = queue_.get()}))),
        receiver_(std::move(*host.create_queue_pair({.writes = queue_.get()}))) {
    if (!sender_->connect(receiver_->connection_info()) ||
        !receiver_->connect(sender_->connection_info())) {
      give_up("connect");
    }
  }
  Way way() {
    return {.post =
                [this](std::uint32_t length) {
                  const host::Write write{.id = 1,
                                          .data = region_->bytes().first(length),
                                          .remote_address = region_->remote().address + kLarge,
                                          .rkey = RKey(region_->remote().rkey)};
                  return sender_->post_write(write).has_value();
                },
            .done =
                [this] {
                  std::array<host::Completion, 16> some;
                  return static_cast<int>(queue_->poll(some));
                }};
  }

 private:
  std::unique_ptr<host::CompletionQueue> queue_;
  std::unique_ptr<host::MemoryRegion> region_;
  std::unique_ptr<host::QueuePair> sender_;
  std::unique_ptr<host::QueuePair> receiver_;
};

class Interface {
 public:
  explicit Interface(std::span<std::byte> memory) : memory_(memory) {
    int count = 0;
    ibv_device** devices = ibv_get_device_list(&count);
    if (count == 0) give_up("ibv_get_device_list");
    verbs_ = ibv_open_device(devices[0]);
    ibv_free_device_list(devices);
    context_ = mrc_create_context(verbs_, nullptr);
    if (context_ == nullptr) give_up("mrc_create_context");
    pd_ = ibv_alloc_pd(verbs_);
    cq_ = mrc_create_cq(context_, 64, nullptr, nullptr, 0);
    mr_ = ibv_reg_mr(pd_, memory.data(), memory.size(),
                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    sender_ = make_queue_pair();
    receiver_ = make_queue_pair();
    connect(sender_, receiver_);
    connect(receiver_, sender_);
  }
  Way way() {
    return {.post = [this](std::uint32_t length) { return post(length); },
            .done =
                [this] {
                  std::array<ibv_wc, 16> some;
                  return mrc_poll_cq(cq_, static_cast<int>(some.size()), some.data());
                }};
  }

 private:
  mrc_qp* make_queue_pair() {
    mrc_qp_init_attr init{};
    init.send_cq = cq_;
    init.recv_cq = cq_;
    init.cap = {.max_send_wr = 64,
                .max_recv_wr = 1,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
    init.pd = pd_;
    mrc_qp* made = mrc_create_qp(context_, &init);
    if (made == nullptr) give_up("mrc_create_qp");
    return made;
  }
  void connect(mrc_qp* qp, mrc_qp* to) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    int failed = mrc_modify_qp(qp, &attr, IBV_QP_STATE, nullptr, 0);
    attr.qp_state = IBV_QPS_RTR;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.sgid_index = kGid;
    failed |= ibv_query_gid(verbs_, 1, kGid, &attr.ah_attr.grh.dgid);
    failed |= mrc_get_qpn(to, &attr.dest_qp_num);
    mrc_qp_attr windows{};
    windows.mpr = {.mpr = 32, .mpr_dest = 32};  // as the runtime has it
    failed |= mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN, &windows,
                            MRC_QP_MPR | MRC_QP_MPR_DEST);
    attr.qp_state = IBV_QPS_RTS;
    failed |= mrc_modify_qp(qp, &attr, IBV_QP_STATE, nullptr, 0);
    if (failed != 0) give_up("mrc_modify_qp");
  }
  bool post(std::uint32_t length) {
    ibv_sge part{.addr = reinterpret_cast<std::uint64_t>(memory_.data()),
                 .length = length,
                 .lkey = mr_->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &part;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(memory_.data()) + kLarge;
    wr.wr.rdma.rkey = mr_->rkey;
    ibv_send_wr* bad = nullptr;
    return mrc_post_send(sender_, &wr, &bad) == 0;
  }

  std::span<std::byte> memory_;
  ibv_context* verbs_ = nullptr;
  mrc_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  mrc_cq* cq_ = nullptr;
  ibv_mr* mr_ = nullptr;
  mrc_qp* sender_ = nullptr;
  mrc_qp* receiver_ = nullptr;
};

template <class Number>
Number median(std::vector<Number> of) {
  std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2));
  return of[of.size() / 2];
}

}  // namespace

int main() {
  use_loopback();
  libmrc::Device* device = libmrc::Device::of_process();
  if (device == nullptr) give_up(libmrc::Device::why().c_str());
  const auto host = device->runtime();
  if (!host) give_up(to_string(host.error()).c_str());
  std::vector<std::byte> memory(2 * std::size_t{kLarge});
  Runtime runtime(**host, memory);
  Interface interface(memory);
  const Way cpp = runtime.way();
  const Way c = interface.way();

  std::vector<std::int64_t> cpp_ns;
  std::vector<std::int64_t> c_ns;
  for (int i = 0; i < kPairs; ++i) {
    cpp_ns.push_back(small_write_ns(cpp));
    c_ns.push_back(small_write_ns(c));
  }
  // Who is first takes turns, too.
  std::int64_t cpp_bytes = 0;
  std::int64_t c_bytes = 0;
  for (int i = 0; i < kSlices; ++i) {
    if (i % 2 == 0) cpp_bytes += large_writes(cpp);
    c_bytes += large_writes(c);
    if (i % 2 != 0) cpp_bytes += large_writes(cpp);
  }
  fmt::print("write of 8 bytes, medians of {}: runtime {} ns, C interface {} ns, {:+} ns\n", kPairs,
             median(cpp_ns), median(c_ns), median(c_ns) - median(cpp_ns));
  fmt::print("goodput of writes of {} KiB, {} slices each: C interface / runtime {:.3f}\n",
             kLarge / 1024, kSlices, static_cast<double>(c_bytes) / static_cast<double>(cpp_bytes));
  return 0;
}
