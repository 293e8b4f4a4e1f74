// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/perftest_options.h"

#include <cstdint>
#include <string_view>

namespace openmrc::tools {
namespace {

enum class In : std::uint8_t { kBoth, kBandwidth, kLatency };

struct Ignored {
  std::string_view names;  // as CLI11 takes them
  bool has_value;
  In in = In::kBoth;
};

// Of perftest 6.29. docs/guide/perf.md has the same table with reasons, and tools.mrc_perf_options
// compares the two.
constexpr Ignored kIgnored[]{
    {"-d,--ib-dev", true},
    {"-f,--margin", true},
    {"-F,--CPU-freq", false},
    {"-i,--ib-port", true},
    {"-I,--inline_size", true},
    {"-l,--post_list", true, In::kBandwidth},
    {"-L,--hop_limit", true},
    {"-Q,--cq-mod", true, In::kBandwidth},
    {"-r,--rx-depth", true},
    {"-R,--rdma_cm", false},
    {"-S,--sl", true},
    {"-T,--tos", true},
    {"-u,--qp-timeout", true},
    {"-W,--report-counters", true},
    {"-x,--gid-index", true},
    {"-z,--comm_rdma_cm", false},
    {"--bind_source_ip", true},
    {"--congest_type", true},
    {"--cpu_id", true},
    {"--cqe_poll", true},
    {"--disable_dynamic_polling", false, In::kBandwidth},
    {"--disable_numa", false},
    {"--disable_pcie_relaxed", false},
    {"--dlid", true},
    {"--dont_xchg_versions", false},
    {"--flow_label", true},
    {"--force-link", true},
    {"--ipv6", false},
    {"--ipv6-addr", false},
    {"--log_active_dci_streams", true},
    {"--log_dci_streams", true},
    {"--mr_per_qp", false, In::kBandwidth},
    {"--no_enhanced_reorder", false},
    {"--no_lock", false},
    {"--numa_node", true},
    {"--odp", false},
    {"--perform_warm_up", false, In::kBandwidth},
    {"--ph", true},
    {"--pin_cores", true},
    {"--pkey_index", true},
    {"--recv_post_list", true, In::kBandwidth},
    {"--retry_count", true},
    {"--tclass", true},
    {"--tph_mem", true},
    {"--use_hugepages", false},
    {"--use_old_post_send", false},
    {"--use_ooo", false},
    {"--wait_destroy", true, In::kBandwidth},
    {"--write_with_imm", false, In::kLatency},
};

bool is_of(In in, PerfTest test) {
  return in == In::kBoth || (in == In::kBandwidth) == (test == PerfTest::kWriteBandwidth);
}

}  // namespace

void add_ignored_perftest_options(CLI::App& command, PerfTest test,
                                  std::vector<std::string>& ignored) {
  for (const Ignored& option : kIgnored) {
    if (!is_of(option.in, test)) continue;
    const std::string names(option.names);
    // Of the table, which stays where it is.
    const auto note = [&option, &ignored] {
      ignored.emplace_back(option.names.substr(0, option.names.find(',')));
    };
    if (option.has_value) {
      command.add_option_function<std::string>(names, [note](const std::string&) { note(); })
          ->group("");
    } else {
      command.add_flag_callback(names, note)->group("");
    }
  }
}

}  // namespace openmrc::tools
