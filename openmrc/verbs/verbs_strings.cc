// SPDX-License-Identifier: BSD-3-Clause
// Names of values, tables of rates, and files of /sys: functions that are about no object.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "openmrc/verbs/device_files.h"
#include "openmrc/verbs/verbs_real.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

// By number: programs ask for any, also for those that are none of the enum.
using Name = std::pair<int, const char*>;

template <std::size_t kCount>
const char* name_in(const std::array<Name, kCount>& names, int value) {
  const auto* found = std::ranges::find(names, value, &Name::first);
  return found == names.end() ? "unknown" : found->second;
}

constexpr auto kEvents = std::to_array<Name>({
    {IBV_EVENT_CQ_ERR, "completion queue error"},
    {IBV_EVENT_QP_FATAL, "queue pair failed"},
    {IBV_EVENT_QP_REQ_ERR, "queue pair got an invalid request"},
    {IBV_EVENT_QP_ACCESS_ERR, "queue pair got a request without the right to it"},
    {IBV_EVENT_COMM_EST, "queue pair heard its peer"},
    {IBV_EVENT_SQ_DRAINED, "send queue drained"},
    {IBV_EVENT_PATH_MIG, "path migrated"},
    {IBV_EVENT_PATH_MIG_ERR, "path migration failed"},
    {IBV_EVENT_DEVICE_FATAL, "device failed"},
    {IBV_EVENT_PORT_ACTIVE, "port is up"},
    {IBV_EVENT_PORT_ERR, "port is down"},
    {IBV_EVENT_LID_CHANGE, "LID changed"},
    {IBV_EVENT_PKEY_CHANGE, "P_Key table changed"},
    {IBV_EVENT_SM_CHANGE, "subnet manager changed"},
    {IBV_EVENT_SRQ_ERR, "shared receive queue error"},
    {IBV_EVENT_SRQ_LIMIT_REACHED, "shared receive queue is at its limit"},
    {IBV_EVENT_QP_LAST_WQE_REACHED, "queue pair took its last receive"},
    {IBV_EVENT_CLIENT_REREGISTER, "clients are to register again"},
    {IBV_EVENT_GID_CHANGE, "GID table changed"},
    {IBV_EVENT_WQ_FATAL, "work queue failed"},
});

constexpr auto kStatuses = std::to_array<Name>({
    {IBV_WC_SUCCESS, "success"},
    {IBV_WC_LOC_LEN_ERR, "local length error"},
    {IBV_WC_LOC_QP_OP_ERR, "local queue pair operation error"},
    {IBV_WC_LOC_EEC_OP_ERR, "local end-to-end context operation error"},
    {IBV_WC_LOC_PROT_ERR, "local protection error"},
    {IBV_WC_WR_FLUSH_ERR, "work request flushed"},
    {IBV_WC_MW_BIND_ERR, "memory window bind error"},
    {IBV_WC_BAD_RESP_ERR, "bad response"},
    {IBV_WC_LOC_ACCESS_ERR, "local access error"},
    {IBV_WC_REM_INV_REQ_ERR, "peer calls the request invalid"},
    {IBV_WC_REM_ACCESS_ERR, "peer denies access"},
    {IBV_WC_REM_OP_ERR, "peer could not do it"},
    {IBV_WC_RETRY_EXC_ERR, "peer does not answer: retries exceeded"},
    {IBV_WC_RNR_RETRY_EXC_ERR, "peer has no receive posted: retries exceeded"},
    {IBV_WC_LOC_RDD_VIOL_ERR, "local reliable datagram domain violated"},
    {IBV_WC_REM_INV_RD_REQ_ERR, "peer calls the reliable datagram request invalid"},
    {IBV_WC_REM_ABORT_ERR, "peer aborted the request"},
    {IBV_WC_INV_EECN_ERR, "invalid end-to-end context number"},
    {IBV_WC_INV_EEC_STATE_ERR, "invalid end-to-end context state"},
    {IBV_WC_FATAL_ERR, "fatal error"},
    {IBV_WC_RESP_TIMEOUT_ERR, "response timed out"},
    {IBV_WC_GENERAL_ERR, "general error"},
    {IBV_WC_TM_ERR, "tag matching error"},
    {IBV_WC_TM_RNDV_INCOMPLETE, "tag matching rendezvous is incomplete"},
});

constexpr auto kPortStates = std::to_array<Name>({
    {IBV_PORT_NOP, "no change"},
    {IBV_PORT_DOWN, "PORT_DOWN"},
    {IBV_PORT_INIT, "PORT_INIT"},
    {IBV_PORT_ARMED, "PORT_ARMED"},
    {IBV_PORT_ACTIVE, "PORT_ACTIVE"},
    {IBV_PORT_ACTIVE_DEFER, "PORT_ACTIVE_DEFER"},
});

constexpr auto kNodeTypes = std::to_array<Name>({
    {IBV_NODE_CA, "channel adapter"},
    {IBV_NODE_SWITCH, "switch"},
    {IBV_NODE_ROUTER, "router"},
    {IBV_NODE_RNIC, "iWARP adapter"},
    {IBV_NODE_USNIC, "usNIC"},
    {IBV_NODE_USNIC_UDP, "usNIC over UDP"},
    {IBV_NODE_UNSPECIFIED, "unspecified"},
});

constexpr auto kOpcodes = std::to_array<Name>({
    {IBV_WR_RDMA_WRITE, "RDMA_WRITE"},
    {IBV_WR_RDMA_WRITE_WITH_IMM, "RDMA_WRITE_WITH_IMM"},
    {IBV_WR_SEND, "SEND"},
    {IBV_WR_SEND_WITH_IMM, "SEND_WITH_IMM"},
    {IBV_WR_RDMA_READ, "RDMA_READ"},
    {IBV_WR_ATOMIC_CMP_AND_SWP, "ATOMIC_CMP_AND_SWP"},
    {IBV_WR_ATOMIC_FETCH_AND_ADD, "ATOMIC_FETCH_AND_ADD"},
    {IBV_WR_LOCAL_INV, "LOCAL_INV"},
    {IBV_WR_BIND_MW, "BIND_MW"},
    {IBV_WR_SEND_WITH_INV, "SEND_WITH_INV"},
    {IBV_WR_TSO, "TSO"},
    {IBV_WR_DRIVER1, "DRIVER1"},
});

struct Rate {
  int rate;      // ibv_rate
  int multiple;  // of 2.5 Gb/s, rounded down
  int mbps;
};

constexpr auto kRates = std::to_array<Rate>({
    {IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},
    {IBV_RATE_10_GBPS, 4, 10000},     {IBV_RATE_20_GBPS, 8, 20000},
    {IBV_RATE_30_GBPS, 12, 30000},    {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000},    {IBV_RATE_80_GBPS, 32, 80000},
    {IBV_RATE_120_GBPS, 48, 120000},  {IBV_RATE_14_GBPS, 6, 14062},
    {IBV_RATE_56_GBPS, 22, 56250},    {IBV_RATE_112_GBPS, 45, 112500},
    {IBV_RATE_168_GBPS, 67, 168750},  {IBV_RATE_25_GBPS, 10, 25781},
    {IBV_RATE_100_GBPS, 40, 103125},  {IBV_RATE_200_GBPS, 80, 206250},
    {IBV_RATE_300_GBPS, 120, 309375}, {IBV_RATE_28_GBPS, 11, 28125},
    {IBV_RATE_50_GBPS, 20, 53125},    {IBV_RATE_400_GBPS, 160, 425000},
    {IBV_RATE_600_GBPS, 240, 637500},
});

int value_of(int rate, int Rate::* value) {
  const auto* found = std::ranges::find(kRates, rate, &Rate::rate);
  return found == kRates.end() ? -1 : found->*value;
}

ibv_rate rate_with(int Rate::* value, int wanted) {
  const auto* found = std::ranges::find(kRates, wanted, value);
  return found == kRates.end() ? IBV_RATE_MAX : static_cast<ibv_rate>(found->rate);
}

// How the soft device's ports are known to device_files.h; nothing if there is no device.
std::optional<std::string> interfaces_of_soft_device() {
  if (soft_device() == nullptr) return std::nullopt;
  std::string names;
  for (const datapath::Port& port : Device::of_process()->config().ports) {
    names += (&port == &Device::of_process()->config().ports.front() ? "" : ",") + port.interface;
  }
  return names;
}

// As the function below: the length without the end of the line, or -1.
int copy_line(std::string_view text, char* buffer, std::size_t size) {
  const std::size_t length = std::min(text.size(), size);
  std::memmove(buffer, text.data(), length);
  const bool has_newline = length > 0 && buffer[length - 1] == '\n';
  if (has_newline) buffer[length - 1] = '\0';
  if (!has_newline && length < size) buffer[length] = '\0';
  return static_cast<int>(has_newline ? length - 1 : length);
}

int read_line(const std::string& path, char* buffer, std::size_t size) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t length = read(fd, buffer, size);
  close(fd);
  return length <= 0 ? -1 : copy_line({buffer, static_cast<std::size_t>(length)}, buffer, size);
}

}  // namespace
}  // namespace openmrc::libmrc

using namespace openmrc::libmrc;  // NOLINT: the functions below are public

extern "C" {
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers are others'

// Programs and people know the real library's words, so they are its if it is there.
#define OPENMRC_OF_REAL_IF_THERE(node, result, name, parameter, ours)      \
  result name(parameter value) {                                           \
    static constinit const RealVerb<result(parameter)> kReal(#name, node); \
    if (!kReal.is_there()) return ours;                                    \
    return kReal.call(ours, value);                                        \
  }
// clang-format off
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.1", const char*, ibv_event_type_str, ibv_event_type, name_in(kEvents, value))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.1", const char*, ibv_wc_status_str, ibv_wc_status, name_in(kStatuses, value))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.1", const char*, ibv_port_state_str, ibv_port_state, name_in(kPortStates, value))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.1", const char*, ibv_node_type_str, ibv_node_type, name_in(kNodeTypes, value))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_PRIVATE_34", const char*, ibv_wr_opcode_str, ibv_wr_opcode, name_in(kOpcodes, value))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.0", int, ibv_rate_to_mult, ibv_rate, value_of(value, &Rate::multiple))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.1", int, ibv_rate_to_mbps, ibv_rate, value_of(value, &Rate::mbps))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.0", ibv_rate, mult_to_ibv_rate, int, rate_with(&Rate::multiple, value))
OPENMRC_OF_REAL_IF_THERE("IBVERBS_1.1", ibv_rate, mbps_to_ibv_rate, int, rate_with(&Rate::mbps, value))
// clang-format on
#undef OPENMRC_OF_REAL_IF_THERE

const char* ibv_get_sysfs_path() {
  static constinit const RealVerb<const char*()> kReal("ibv_get_sysfs_path", "IBVERBS_1.0");
  return kReal.is_there() ? kReal.call(nullptr) : "/sys";
}

// Returns the length without the end of the line, or -1.
int ibv_read_sysfs_file(const char* folder, const char* file, char* buffer, std::size_t size) try {
  static constinit const RealVerb<int(const char*, const char*, char*, std::size_t)> kReal(
      "ibv_read_sysfs_file", "IBVERBS_1.0");
  const std::string path = std::string(folder) + "/" + file;
  if (const auto interfaces = interfaces_of_soft_device()) {
    if (const auto found = device_file(path, *interfaces)) {
      return copy_line(found->text(), buffer, size);
    }
  }
  return kReal.is_there() ? kReal.call(-1, folder, file, buffer, size)
                          : read_line(path, buffer, size);
} catch (const std::exception&) {
  errno = ENOMEM;
  return -1;
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
}  // extern "C"
