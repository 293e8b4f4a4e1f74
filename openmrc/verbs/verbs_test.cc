// SPDX-License-Identifier: BSD-3-Clause
// The soft verbs device as applications see it: through the headers and the library of verbs.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "openmrc/verbs/device.h"
#include "openmrc/verbs/test_verbs.h"
#include "openmrc/verbs/verbs_objects.h"

extern "C" int ibv_query_port_speed(ibv_context* context, std::uint32_t port, std::uint64_t* speed);

namespace openmrc::libmrc::test {
namespace {

const VerbsEnvironment kEnvironment;

constexpr int kReadWrite = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

TEST(VerbsDiscovery, ListsTheDevice) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(count, 1);
  EXPECT_EQ(list[1], nullptr);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "openmrc0");
  EXPECT_STREQ(list[0]->name, "openmrc0");
  EXPECT_EQ(list[0]->node_type, IBV_NODE_CA);
  EXPECT_EQ(list[0]->transport_type, IBV_TRANSPORT_IB);
  EXPECT_EQ(be64toh(ibv_get_device_guid(list[0])), Device::of_process()->guid());
  EXPECT_EQ(ibv_get_device_index(list[0]), -1);
  ibv_free_device_list(list);
}

TEST(VerbsDiscovery, CountsForNobodyAndFreesNothing) {
  ibv_device** list = ibv_get_device_list(nullptr);
  ASSERT_NE(list, nullptr);
  ibv_free_device_list(list);
  ibv_free_device_list(nullptr);
}

TEST(VerbsDiscovery, DevicesOutliveTheirList) {
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_device* device = list[0];
  ibv_free_device_list(list);
  ibv_context* context = ibv_open_device(device);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(context->device, device);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(VerbsDiscovery, ContextsAreKnownToLibmrcWhileOpen) {
  ibv_context* first = open_device(0);
  ibv_context* second = open_device(0);
  ASSERT_NE(first, second);
  EXPECT_EQ(device_of(first), Device::of_process());
  EXPECT_EQ(ibv_close_device(first), 0);
  EXPECT_EQ(device_of(first), nullptr);
  EXPECT_EQ(device_of(second), Device::of_process());
  EXPECT_EQ(ibv_close_device(second), 0);
}

TEST(VerbsDiscovery, WhatIsClosedIsNobodys) {
  ibv_context* context = open_device(0);
  ASSERT_EQ(ibv_close_device(context), 0);
  ibv_device_attr device{};
  EXPECT_EQ(ibv_query_device(context, &device), ENODEV);
  EXPECT_EQ(ibv_alloc_pd(context), nullptr);
  EXPECT_EQ(errno, ENODEV);
  ibv_async_event event{};
  EXPECT_EQ(ibv_get_async_event(context, &event), -1);
}

TEST(VerbsDiscovery, ForkNeedsNothing) {
  EXPECT_EQ(ibv_fork_init(), 0);
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

class VerbsAttributes : public VerbsTest {};

TEST_F(VerbsAttributes, OfTheDevice) {
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(context, &device), 0);
  EXPECT_EQ(device.phys_port_cnt, 1);
  EXPECT_EQ(be64toh(device.node_guid), Device::of_process()->guid());
  EXPECT_EQ(device.sys_image_guid, device.node_guid);
  EXPECT_EQ(device.max_sge, 16);
  EXPECT_EQ(device.atomic_cap, IBV_ATOMIC_GLOB);
  EXPECT_EQ(device.max_qp_rd_atom, 16);
  EXPECT_GE(device.max_srq_wr, 4096);
  EXPECT_GT(device.max_ah, 0);
  EXPECT_EQ(device.max_qp_wr, 16384);
  EXPECT_EQ(device.max_cqe, 1 << 20);
  EXPECT_EQ(device.max_qp, 131'072);
  EXPECT_EQ(device.max_pkeys, 1);
  EXPECT_EQ(device.vendor_id, 0U);
  EXPECT_GT(std::strlen(device.fw_ver), 0U);
}

TEST_F(VerbsAttributes, OfThePort) {
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(port.max_mtu, IBV_MTU_4096);
  EXPECT_EQ(port.active_mtu, IBV_MTU_2048);
  EXPECT_EQ(port.gid_tbl_len, 5);
  EXPECT_EQ(port.pkey_tbl_len, 1);
  // 400 Gb/s: four lanes of 100.
  EXPECT_EQ(port.active_width, 2);
  EXPECT_EQ(port.active_speed, 128);
  std::uint64_t speed = 0;
  ASSERT_EQ(ibv_query_port_speed(context, 1, &speed), 0);
  EXPECT_EQ(speed, 4000U);
}

TEST_F(VerbsAttributes, OfPortsThatAreNotThere) {
  ibv_port_attr port{};
  std::uint64_t speed = 0;
  EXPECT_EQ(ibv_query_port(context, 0, &port), EINVAL);
  EXPECT_EQ(ibv_query_port(context, 2, &port), EINVAL);
  EXPECT_EQ(ibv_query_port_speed(context, 2, &speed), EINVAL);
}

// The exported function is for programs that know 48 bytes of the struct.
TEST_F(VerbsAttributes, OfThePortForOldPrograms) {
  std::array<unsigned char, 64> memory{};
  memory.fill(0xaa);
  ASSERT_EQ((ibv_query_port)(context, 1, reinterpret_cast<_compat_ibv_port_attr*>(memory.data())),
            0);
  EXPECT_EQ(memory[48], 0xaa);
  ibv_port_attr port{};
  std::memcpy(static_cast<void*>(&port), memory.data(), 48);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.active_speed, 128);
  memory.fill(0xaa);
  ASSERT_EQ(context->ops._compat_query_port(
                context, 1, reinterpret_cast<_compat_ibv_port_attr*>(memory.data())),
            0);
  EXPECT_EQ(memory[48], 0xaa);
}

// Newer programs than this have longer structs.
TEST_F(VerbsAttributes, OfThePortForNewerPrograms) {
  struct Longer {
    ibv_port_attr known;
    std::array<unsigned char, 12> unknown;
  } port{};
  std::memset(static_cast<void*>(&port), 0xaa, sizeof(port));
  ASSERT_EQ(verbs_get_ctx(context)->query_port(context, 1, &port.known, sizeof(port)), 0);
  EXPECT_EQ(port.known.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.unknown, decltype(port.unknown){});
}

std::string text_of(const ibv_gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET6, gid.raw, text.data(), text.size());
}

TEST_F(VerbsAttributes, GidsAreWhereProgramsLookForThem) {
  ibv_gid gid{};
  ASSERT_EQ(ibv_query_gid(context, 1, 0, &gid), 0);
  EXPECT_EQ(be64toh(gid.global.subnet_prefix), 0xfe80'0000'0000'0000U);
  EXPECT_EQ(be64toh(gid.global.interface_id), Device::of_process()->guid());
  const std::array<std::string, 4> others{"::", "::", "::1", "::1"};
  for (int index = 1; index < 5; ++index) {
    ASSERT_EQ(ibv_query_gid(context, 1, index, &gid), 0);
    EXPECT_EQ(text_of(gid), others[static_cast<std::size_t>(index) - 1]) << index;
  }
}

TEST_F(VerbsAttributes, GidsThatAreNotThere) {
  ibv_gid gid{};
  EXPECT_EQ(ibv_query_gid(context, 1, 5, &gid), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_query_gid(context, 1, -1, &gid), -1);
  EXPECT_EQ(ibv_query_gid(context, 2, 0, &gid), -1);
  EXPECT_EQ(ibv_query_gid(context, 0, 0, &gid), -1);
}

TEST_F(VerbsAttributes, GidEntries) {
  ibv_gid_entry entry{};
  ASSERT_EQ(ibv_query_gid_ex(context, 1, 3, &entry, 0), 0);
  EXPECT_EQ(text_of(entry.gid), "::1");
  EXPECT_EQ(entry.gid_index, 3U);
  EXPECT_EQ(entry.port_num, 1U);
  EXPECT_EQ(entry.gid_type, unsigned{IBV_GID_TYPE_ROCE_V2});
  EXPECT_NE(entry.ndev_ifindex, 0U);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 1, &entry, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 9, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 3, &entry, 1), EINVAL);
}

TEST_F(VerbsAttributes, GidTable) {
  std::array<ibv_gid_entry, 8> entries{};
  ASSERT_EQ(ibv_query_gid_table(context, entries.data(), entries.size(), 0), 3);
  EXPECT_EQ(entries[0].gid_index, 0U);
  EXPECT_EQ(entries[1].gid_index, 3U);
  EXPECT_EQ(entries[2].gid_index, 4U);
  EXPECT_EQ(ibv_query_gid_table(context, entries.data(), 2, 0), -EINVAL);
  EXPECT_EQ(ibv_query_gid_table(context, entries.data(), 3, 7), -EINVAL);
}

TEST_F(VerbsAttributes, PartitionKeys) {
  __be16 pkey = 0;
  ASSERT_EQ(ibv_query_pkey(context, 1, 0, &pkey), 0);
  EXPECT_EQ(pkey, 0xffff);
  EXPECT_EQ(ibv_get_pkey_index(context, 1, pkey), 0);
  EXPECT_EQ(ibv_query_pkey(context, 1, 1, &pkey), -1);
  EXPECT_EQ(ibv_get_pkey_index(context, 1, 0x1234), -1);
}

class VerbsMemory : public VerbsTest {
 protected:
  VerbsMemory() : pd(ibv_alloc_pd(context)) {}
  ~VerbsMemory() override { EXPECT_EQ(ibv_dealloc_pd(pd), 0); }

  // Why it is refused.
  int refusal(void* address, std::size_t length, std::uint64_t iova, unsigned access) {
    errno = 0;
    ibv_mr* mr = ibv_reg_mr_iova2(pd, address, length, iova, access);
    EXPECT_EQ(mr, nullptr);
    return errno;
  }

  ibv_pd* pd;
  std::vector<std::byte> memory = std::vector<std::byte>(10'000);
};

TEST_F(VerbsMemory, IsFoundByItsKeyInItsDomain) {
  ibv_pd* other = ibv_alloc_pd(context);
  ASSERT_NE(other, nullptr);
  ibv_mr* mr = ibv_reg_mr(pd, memory.data(), memory.size(), kReadWrite | IBV_ACCESS_REMOTE_READ);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->context, context);
  EXPECT_EQ(mr->pd, pd);
  EXPECT_EQ(mr->addr, memory.data());
  EXPECT_EQ(mr->length, memory.size());
  EXPECT_EQ(mr->lkey, mr->rkey);
  MemoryTable& table = Device::of_process()->memory();
  const auto address = reinterpret_cast<std::uint64_t>(memory.data());
  const auto domain = soft_domain(pd)->domain;
  EXPECT_EQ(table.find(mr->lkey, domain, address + 9'000, 1'000), memory.data() + 9'000);
  EXPECT_EQ(table.find(mr->lkey, domain, address + 9'000, 1'001), nullptr);
  EXPECT_EQ(table.find(mr->lkey, soft_domain(other)->domain, address, 1), nullptr);
  const std::uint32_t key = mr->lkey;
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(table.find(key, domain, address, 1), nullptr);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

TEST_F(VerbsMemory, GoesByTheAddressItIsGiven) {
  ibv_mr* mr = ibv_reg_mr_iova(pd, memory.data(), memory.size(), 0x1000, kReadWrite);
  ASSERT_NE(mr, nullptr);
  const auto domain = soft_domain(pd)->domain;
  EXPECT_EQ(Device::of_process()->memory().find(mr->lkey, domain, 0x1010, 16), memory.data() + 16);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(VerbsMemory, KeepsItsDomain) {
  ibv_mr* mr = ibv_reg_mr(pd, memory.data(), memory.size(), kReadWrite);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(VerbsMemory, IsKeptByQueuePairsOfLibmrc) {
  ++soft_domain(pd)->users;
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  --soft_domain(pd)->users;
}

TEST_F(VerbsMemory, IgnoresRightsThatAreOptional) {
  for (unsigned bit = 20; bit < 30; ++bit) {
    ibv_mr* mr = ibv_reg_mr_iova2(pd, memory.data(), memory.size(), 0, kReadWrite | (1U << bit));
    ASSERT_NE(mr, nullptr) << bit;
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
  }
}

// Nothing of this kind is ever asked of a peer, so it may be allowed.
TEST_F(VerbsMemory, TakesRightsThatNobodyUses) {
  ibv_mr* mr = ibv_reg_mr(pd, memory.data(), memory.size(),
                          kReadWrite | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(VerbsMemory, RefusesRightsThatItCannotGive) {
  EXPECT_EQ(refusal(memory.data(), 1, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL);
  EXPECT_EQ(refusal(memory.data(), 1, 0, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
  EXPECT_EQ(refusal(memory.data(), 1, 0, kReadWrite | IBV_ACCESS_ZERO_BASED), EINVAL);
  EXPECT_EQ(refusal(memory.data(), 1, 0, 1U << 30), EINVAL);
}

TEST_F(VerbsMemory, RefusesWhatIsNoMemory) {
  EXPECT_EQ(refusal(memory.data(), 0, 0, kReadWrite), EINVAL);
  EXPECT_EQ(refusal(memory.data(), 100, UINT64_MAX - 50, kReadWrite), EINVAL);
  EXPECT_EQ(refusal(nullptr, 1, 0, kReadWrite), EFAULT);
  EXPECT_EQ(refusal(reinterpret_cast<void*>(UINTPTR_MAX - 10), 100, 0, kReadWrite), EFAULT);
}

TEST_F(VerbsMemory, RefusesMemoryWithAHole) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kPages = 8200;  // more than are looked at in one go
  void* mapped = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ibv_mr* mr = ibv_reg_mr(pd, mapped, kPages * kPage, kReadWrite);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  ASSERT_EQ(munmap(static_cast<std::byte*>(mapped) + (kPages - 2) * kPage, kPage), 0);
  EXPECT_EQ(refusal(mapped, kPages * kPage, 0, kReadWrite), EFAULT);
  munmap(mapped, kPages * kPage);
}

TEST_F(VerbsMemory, OfOtherDevicesIsRefused) {
  errno = 0;
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(VerbsMemory, IsRegisteredByManyThreads) {
  std::vector<std::jthread> threads;
  std::atomic<unsigned> registered = 0;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (unsigned round = 0; round < 200; ++round) {
        ibv_mr* mr = ibv_reg_mr(pd, memory.data(), memory.size(), kReadWrite);
        if (mr != nullptr && ibv_dereg_mr(mr) == 0) ++registered;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(registered.load(), 800U);
}

// Their keys are drawn: none may stand in another's way.
TEST_F(VerbsMemory, TakesManyRegions) {
  std::vector<ibv_mr*> all;
  for (unsigned i = 0; i < 3000; ++i) {
    all.push_back(ibv_reg_mr(pd, memory.data(), memory.size(), kReadWrite));
    ASSERT_NE(all.back(), nullptr);
  }
  for (ibv_mr* mr : all) EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

class VerbsQueues : public VerbsTest {};

TEST_F(VerbsQueues, CompletionQueuesAreEmpty) {
  int cookie = 0;
  ibv_cq* cq = ibv_create_cq(context, 256, &cookie, nullptr, 0);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(cq->cq_context, &cookie);
  EXPECT_EQ(cq->context, context);
  EXPECT_GE(cq->cqe, 256);
  ibv_wc wc{};
  EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
  EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
  EXPECT_EQ(ibv_resize_cq(cq, 512), EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST_F(VerbsQueues, CompletionQueuesHaveLimits) {
  EXPECT_EQ(ibv_create_cq(context, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_cq(context, (1 << 20) + 1, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(ibv_create_cq(context, 1, nullptr, nullptr, context->num_comp_vectors), nullptr);
  ibv_cq_init_attr_ex attributes{};
  EXPECT_EQ(ibv_create_cq_ex(context, &attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attributes.cqe = (1 << 20) + 1;
  EXPECT_EQ(ibv_create_cq_ex(context, &attributes), nullptr);
}

TEST_F(VerbsQueues, ChannelsStayWhileQueuesReferToThem) {
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ASSERT_NE(channel, nullptr);
  ibv_cq* cq = ibv_create_cq(context, 1, nullptr, channel, 0);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
  pollfd waiting{.fd = channel->fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  ibv_cq* reported = nullptr;
  void* cookie = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel, &reported, &cookie), -1);
  EXPECT_EQ(errno, EAGAIN);
  ibv_ack_cq_events(cq, 2);
  EXPECT_EQ(cq->comp_events_completed, 2U);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

// What is not offered says so.
TEST_F(VerbsQueues, OtherTypesAreRefused) {
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_cq* cq = ibv_create_cq(context, 1, nullptr, nullptr, 0);
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = cq;
  for (const ibv_qp_type type : {IBV_QPT_UC, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND}) {
    attributes.qp_type = type;
    errno = 0;
    EXPECT_EQ(ibv_create_qp(pd, &attributes), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_sge = 100;
  EXPECT_EQ(ibv_create_qp(pd, &attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_alloc_mw(pd, IBV_MW_TYPE_1), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST(VerbsEvents, WhoWaitsIsToldWhenTheContextIsClosed) {
  ibv_context* context = open_device(0);
  std::vector<std::jthread> threads;
  std::atomic<int> results = 0;
  for (unsigned i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      ibv_async_event event{};
      results += ibv_get_async_event(context, &event);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until they wait
  EXPECT_EQ(results.load(), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
  threads.clear();
  EXPECT_EQ(results.load(), -3);
}

TEST(VerbsEvents, NobodyWaitsWhoWillNot) {
  ibv_context* context = open_device(0);
  pollfd waiting{.fd = context->async_fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  ASSERT_EQ(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
  ibv_async_event event{};
  EXPECT_EQ(ibv_get_async_event(context, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(VerbsStrings, ThereIsOneForEveryValue) {
  for (int value = -2; value < 300; ++value) {
    EXPECT_NE(ibv_event_type_str(static_cast<ibv_event_type>(value)), nullptr);
    EXPECT_NE(ibv_wc_status_str(static_cast<ibv_wc_status>(value)), nullptr);
    EXPECT_NE(ibv_port_state_str(static_cast<ibv_port_state>(value)), nullptr);
    EXPECT_NE(ibv_node_type_str(static_cast<ibv_node_type>(value)), nullptr);
  }
  EXPECT_STREQ(ibv_wc_status_str(IBV_WC_SUCCESS), "success");
  EXPECT_STREQ(ibv_port_state_str(IBV_PORT_ACTIVE), "PORT_ACTIVE");
  EXPECT_STREQ(ibv_event_type_str(IBV_EVENT_PORT_ERR), "port is down");
  EXPECT_STREQ(ibv_event_type_str(static_cast<ibv_event_type>(IBV_EVENT_WQ_FATAL + 1)), "unknown");
}

TEST(VerbsRates, GoBothWays) {
  for (int value = IBV_RATE_2_5_GBPS; value <= IBV_RATE_600_GBPS; ++value) {
    const auto rate = static_cast<ibv_rate>(value);
    EXPECT_EQ(mult_to_ibv_rate(ibv_rate_to_mult(rate)), rate);
    EXPECT_EQ(mbps_to_ibv_rate(ibv_rate_to_mbps(rate)), rate);
  }
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_400_GBPS), 425'000);
  EXPECT_EQ(ibv_rate_to_mult(IBV_RATE_40_GBPS), 16);
  EXPECT_EQ(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
  EXPECT_EQ(mbps_to_ibv_rate(1), IBV_RATE_MAX);
}

struct Exported {
  const char* node;
  const char* name;
};

constexpr Exported kExported[] = {
#define OPENMRC_VERB(node, result, name, parameters, arguments, otherwise) {node, #name},
#define OPENMRC_VERB_REFUSED OPENMRC_VERB
#define OPENMRC_VERB_OF_OTHERS OPENMRC_VERB
#include "openmrc/verbs/verbs.def"
};

TEST(VerbsLibrary, HasEveryFunctionUnderItsNode) {
  void* library = dlopen("libibverbs.so.1", RTLD_NOLOAD | RTLD_LAZY);
  ASSERT_NE(library, nullptr);
  for (const Exported& entry : kExported) {
    void* function = dlvsym(library, entry.name, entry.node);
    ASSERT_NE(function, nullptr) << entry.name;
    Dl_info info{};
    ASSERT_NE(dladdr(function, &info), 0);
    const std::filesystem::path file(info.dli_fname);
    EXPECT_EQ(file.parent_path().filename(), "openmrc") << entry.name;
  }
  dlclose(library);
}

// A plugin that names it without linking libmlx5.
TEST(VerbsLibrary, StandsInForLibmlx5) {
  void* library = dlopen("libibverbs.so.1", RTLD_NOLOAD | RTLD_LAZY);
  ASSERT_NE(library, nullptr);
  using IsSupported = bool (*)(ibv_device*);
  const auto is_supported = reinterpret_cast<IsSupported>(dlsym(library, "mlx5dv_is_supported"));
  ASSERT_NE(is_supported, nullptr);
  EXPECT_FALSE(is_supported(nullptr));
  EXPECT_NE(dlsym(library, "mlx5dv_reg_dmabuf_mr"), nullptr);
  EXPECT_NE(dlsym(library, "mlx5dv_get_data_direct_sysfs_path"), nullptr);
  dlclose(library);
}

}  // namespace
}  // namespace openmrc::libmrc::test
