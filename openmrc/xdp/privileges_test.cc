// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/privileges.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "openmrc/xdp/test_hosts.h"

namespace openmrc::xdp {
namespace {

// Runs in a thread of its own, which has all capabilities of this process but these.
template <class Do>
void without(std::uint64_t capabilities, Do&& act) {
  std::thread([&] {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> data{};
    ASSERT_EQ(::syscall(SYS_capget, &header, data.data()), 0);
    data[0].effective &= ~static_cast<std::uint32_t>(capabilities);
    data[1].effective &= ~static_cast<std::uint32_t>(capabilities >> 32);
    ASSERT_EQ(::syscall(SYS_capset, &header, data.data()), 0);
    act();
  }).join();
}

constexpr std::uint64_t bit(int capability) { return std::uint64_t{1} << capability; }

std::string missing() {
  const auto checked = check_privileges();
  return checked ? "none" : datapath::to_string(checked.error());
}

TEST(XdpPrivileges, NamesWhatIsMissing) {
  if (!check_privileges()) GTEST_SKIP() << "needs root";
  without(bit(CAP_NET_RAW), [] {
    EXPECT_NE(missing().find("; CAP_NET_RAW is missing"), std::string::npos) << missing();
  });
  without(bit(CAP_NET_ADMIN), [] {
    EXPECT_NE(missing().find("; CAP_NET_ADMIN is missing"), std::string::npos) << missing();
  });
  without(bit(CAP_BPF) | bit(CAP_SYS_ADMIN), [] {
    EXPECT_NE(missing().find("; CAP_BPF is missing"), std::string::npos) << missing();
  });
  without(~std::uint64_t{0}, [] {
    EXPECT_NE(missing().find("; CAP_BPF, CAP_NET_ADMIN, CAP_NET_RAW are missing"),
              std::string::npos)
        << missing();
  });
  without(bit(CAP_BPF), [] { EXPECT_EQ(missing(), "none") << "CAP_SYS_ADMIN includes it"; });
}

class XdpOpening : public TwoHosts {};

// What is asked for is all that it needs.
TEST_F(XdpOpening, NeedsNoOtherCapability) {
  const std::uint64_t needed =
      bit(CAP_BPF) | bit(CAP_NET_ADMIN) | bit(CAP_NET_RAW) | bit(CAP_IPC_LOCK);
  b_.in([&] {
    const auto own = settings("b0", kB);
    std::thread inside([&] {
      without(~needed, [&] {
        const auto path = xdp::open(own);
        EXPECT_TRUE(path) << datapath::to_string(path.error());
      });
    });
    inside.join();
  });
}

// Memory that is shared with the kernel counts as locked.
TEST_F(XdpOpening, SaysHowMuchMemoryItLocks) {
  b_.in([&] {
    without(bit(CAP_IPC_LOCK), [&] {
      const auto path = xdp::open(settings("b0", kB));
      ASSERT_FALSE(path);
      const std::string text = datapath::to_string(path.error());
      EXPECT_NE(text.find("24 MiB of locked memory"), std::string::npos) << text;
      EXPECT_NE(text.find("cap_ipc_lock"), std::string::npos) << text;
    });
  });
}

}  // namespace
}  // namespace openmrc::xdp
