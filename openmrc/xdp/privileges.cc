// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/privileges.h"

#include <fmt/core.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

namespace openmrc::xdp {
namespace {

constexpr std::uint64_t bit_of(int capability) { return std::uint64_t{1} << capability; }

struct Needed {
  const char* name;
  std::uint64_t any_of;  // these include it
};
constexpr std::array<Needed, 3> kNeeded{{
    {"CAP_BPF", bit_of(CAP_BPF) | bit_of(CAP_SYS_ADMIN)},
    {"CAP_NET_ADMIN", bit_of(CAP_NET_ADMIN)},
    {"CAP_NET_RAW", bit_of(CAP_NET_RAW)},
}};

// Those of the calling thread; all of them if the kernel does not say.
std::uint64_t effective_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return ~std::uint64_t{0};
  return std::uint64_t{data[1].effective} << 32 | data[0].effective;
}

}  // namespace

Result<void, datapath::Error> check_privileges() {
  const std::uint64_t effective = effective_capabilities();
  std::string missing;
  int count = 0;
  for (const Needed& needed : kNeeded) {
    if ((effective & needed.any_of) != 0) continue;
    missing += (count++ == 0 ? "" : ", ") + std::string(needed.name);
  }
  if (count == 0) return {};
  return failure(datapath::Error{
      .what =
          fmt::format("mode \"xdp\" needs CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW; {} {} missing",
                      missing, count == 1 ? "is" : "are"),
      .remedy = kPrivilegeRemedy});
}

}  // namespace openmrc::xdp
