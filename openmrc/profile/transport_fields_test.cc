// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/transport_fields.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace openmrc::profile {
namespace {

// Each member of the core's settings by its name, as text. A structured binding fails to compile
// when a member is added: then it needs a key, or a reason to be left out here.
class Members {
 public:
  explicit Members(const TransportProfile& profile) {
    add(endpoint_settings(profile));
    add(nscc_settings(profile, {}));
    TransportProfile fixed = profile;
    fixed.congestion.algorithm = CongestionAlgorithm::kFixed;
    add(std::get<core::FixedWindowSettings>(congestion_settings(fixed, {})));
    put("congestion", congestion_settings(profile, {}).index());
    add(recv_attributes(profile));
    add(send_attributes(profile));
    add(profile.paths);
  }

  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& [name, value] : values_) names.insert(name);
    return names;
  }
  [[nodiscard]] std::set<std::string> that_differ(const Members& other) const {
    std::set<std::string> names;
    for (const auto& [name, value] : values_) {
      if (other.values_.at(name) != value) names.insert(name);
    }
    return names;
  }

 private:
  template <class T>
  void put(std::string name, const T& value) {
    if constexpr (requires { value.raw(); }) {
      values_[std::move(name)] = fmt::format("{}", value.raw());
    } else if constexpr (std::is_enum_v<T>) {
      values_[std::move(name)] = fmt::format("{}", static_cast<int>(value));
    } else {
      values_[std::move(name)] = fmt::format("{}", value);
    }
  }

  void add(const core::EndpointSettings& settings) {
    // addresses, first_qpn, qpns, request_ids and return_routes say who and where the endpoint is,
    // queues_reserved what its program keeps ready, and secret is no setting of anybody's.
    const auto& [addresses, first_qpn, qpns, secret, pkey, udp_port, sack, probe, request_ids,
                 ev_burst, path_policy, reorder_floor, packet_weight_min, return_routes, limits,
                 queues_reserved] = settings;
    put("pkey", pkey);
    put("udp_port", udp_port);
    const auto& [threshold_bytes, packet_bytes_min] = sack;
    put("sack.threshold_bytes", threshold_bytes);
    put("sack.packet_bytes_min", packet_bytes_min);
    const auto& [successes, interval_max] = probe;
    put("probe.successes", successes);
    put("probe.interval_max", interval_max);
    put("ev_burst", ev_burst);
    put("path_policy", path_policy);
    put("reorder_floor", reorder_floor);
    put("packet_weight_min", packet_weight_min);
    const auto& [queue_pairs, regions, sends, receives, immediates, held, packets] = limits;
    put("limits.queue_pairs", queue_pairs);
    put("limits.memory_regions", regions);
    put("limits.sends_outstanding", sends);
    put("limits.receives_outstanding", receives);
    put("limits.early_immediates", immediates);
    put("limits.held_packets", held);
    put("limits.packets_in_flight", packets);
  }
  void add(const core::NsccSettings& settings) {
    const auto& [mtu, base_rtt, target_delay, max_window, fi, eta, fi_scale, gamma, max_md_jump,
                 adjust_bytes, adjust_period, quick_adapt, qa_gate, qa_threshold, measures,
                 learns] = settings;
    put("nscc.mtu", mtu);
    put("nscc.base_rtt", base_rtt);
    put("nscc.target_delay", target_delay);
    put("nscc.max_window", max_window);
    put("nscc.fi", fi);
    put("nscc.eta", eta);
    put("nscc.fi_scale", fi_scale);
    put("nscc.gamma", gamma);
    put("nscc.max_md_jump", max_md_jump);
    put("nscc.adjust_bytes", adjust_bytes);
    put("nscc.adjust_period", adjust_period);
    put("nscc.quick_adapt", quick_adapt);
    put("nscc.qa_gate", qa_gate);
    put("nscc.qa_threshold", qa_threshold);
    put("nscc.measures_base_rtt", measures);
    put("nscc.learns_base_rtt", learns);
  }
  void add(const core::FixedWindowSettings& settings) {
    const auto& [window, base_rtt] = settings;
    put("fixed.window", window);
    put("fixed.base_rtt", base_rtt);
  }
  void add(const core::ReadyToRecvAttributes& attributes) {
    // Of the peer: its number, PSN, addresses, overlay, profiles, and whether it answers trims. Of
    // who uses the queue pair: whether order matters.
    const auto& [qpn, psn, addresses, overlay, ev_profile, cc_profile, mtu, mpr, max_wimm,
                 dynamic_mpr, trim_nacks, in_order] = attributes;
    put("recv.mtu", mtu);
    put("recv.mpr_dest", mpr);
    put("recv.max_wimm_dest", max_wimm);
    put("recv.dynamic_mpr", dynamic_mpr);
  }
  void add(const core::ReadyToSendAttributes& attributes) {
    // Of the application: its PSN and its hint.
    const auto& [first_psn, mpr, max_wimm, timeout, linear, exponential, senders] = attributes;
    put("send.mpr", mpr);
    put("send.max_wimm", max_wimm);
    put("send.timeout", timeout);
    put("send.linear_retries", linear);
    put("send.exponential_retries", exponential);
  }
  void add(const PathOptions& options) {
    const auto& [evs, distinct, active_per_plane, min_active, sets, seed] = options;
    put("paths.evs", evs);
    put("paths.distinct", distinct);
    put("paths.active_per_plane", active_per_plane);
    put("paths.min_active", min_active);
    put("paths.sets", sets);
    put("paths.seed", seed.value_or(kPathSeedDefault));
  }

  std::map<std::string, std::string> values_;
};

// The members that differ from `start` when the i-th key is at one end of its range or the other.
std::set<std::string> members_set_by(const TransportProfile& start, std::size_t i) {
  std::set<std::string> members;
  for (const bool most : {false, true}) {
    TransportProfile changed = start;
    const text::Field field = transport_fields(changed)[i];
    field.set(most ? field.most : field.least);
    members.merge(Members(changed).that_differ(Members(start)));
  }
  return members;
}

TEST(TransportFields, EveryKeyChangesTheCoreAndEveryMemberOfTheCoreHasAKey) {
  const TransportProfile start = preset(Preset::kNic);
  std::set<std::string> reached;
  TransportProfile probe = start;
  for (std::size_t i = 0; i < transport_fields(probe).size(); ++i) {
    std::set<std::string> members = members_set_by(start, i);
    EXPECT_FALSE(members.empty()) << transport_fields(probe)[i].name << " changes nothing";
    reached.merge(members);
  }
  EXPECT_EQ(reached, Members(start).names());
}

TEST(TransportFields, HaveOneSectionUniqueNamesAndADescription) {
  TransportProfile profile;
  std::set<std::string_view> names;
  for (const text::Field& field : transport_fields(profile)) {
    EXPECT_EQ(field.section, kTransportSection);
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.description.empty()) << field.name;
  }
}

TransportProfile read(std::string_view toml, std::vector<text::FileError>* errors = nullptr) {
  TransportProfile profile = preset(Preset::kNic);
  text::TomlReader file(toml);
  if (text::TableReader* section = file.top().section(kTransportSection)) {
    read_transport(*section, profile);
  }
  file.top().finish();
  auto found = file.diagnostics().take();
  if (errors != nullptr) {
    *errors = std::move(found);
  } else {
    EXPECT_TRUE(found.empty()) << to_string(found);
  }
  return profile;
}

TEST(TransportFields, APresetIsWhereOtherKeysStartFromWhereverItStands) {
  const TransportProfile profile = read("[transport]\nburst = 4\npreset = \"software\"\n");
  TransportProfile expected = preset(Preset::kSoftware);
  expected.burst = 4;
  EXPECT_EQ(profile, expected);
}

TEST(TransportFields, AnAlgorithmAndAPolicyAreOneKeyEach) {
  const TransportProfile profile = read(
      "[transport]\ncongestion = \"fixed\"\nwindow = \"256KiB\"\npath_policy = \"round-robin\"\n");
  const auto settings = congestion_settings(profile, {});
  EXPECT_EQ(std::get<core::FixedWindowSettings>(settings).window, ByteCount(262'144));
  EXPECT_EQ(endpoint_settings(profile).path_policy, core::PathPolicy::kRoundRobin);
}

TEST(TransportFields, ReportAllErrorsAtOnce) {
  std::vector<text::FileError> errors;
  read("[transport]\nevz = 4\nburst = 65\nbase_rtt = \"soon\"\n", &errors);
  ASSERT_EQ(errors.size(), 3u) << to_string(errors);
  EXPECT_NE(to_string(errors[0]).find("evs"), std::string::npos) << to_string(errors[0]);
  EXPECT_NE(to_string(errors[1]).find("burst"), std::string::npos);
  EXPECT_NE(to_string(errors[2]).find("duration"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::profile
