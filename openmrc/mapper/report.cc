// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/report.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "openmrc/fabric/names.h"

namespace openmrc::mapper {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kHostNameMax = 255;
constexpr double kDelayMax = 100;
constexpr double kAgeMax = 1e9;                          // seconds
constexpr std::uint64_t kAmountMax = 1'000'000'000'000;  // so that sums of many agents have room

constexpr std::array<std::string_view, 4> kDirections{"unknown", "up", "down", "both"};

struct CounterName {
  const char* name;
  std::uint64_t MapperCounters::* member;
};
constexpr std::array kCounters{
    CounterName{"rounds", &MapperCounters::rounds},
    CounterName{"sent", &MapperCounters::sent},
    CounterName{"replied", &MapperCounters::replied},
    CounterName{"late", &MapperCounters::late},
    CounterName{"repeated", &MapperCounters::repeated},
    CounterName{"foreign", &MapperCounters::foreign},
    CounterName{"rounds_judged", &MapperCounters::rounds_judged},
    CounterName{"rounds_host_late", &MapperCounters::rounds_host_late},
    CounterName{"rounds_all_planes", &MapperCounters::rounds_all_planes},
};

Json tally_json(const fabric::LinkId& link, const Tally& tally) {
  return {{"link", fabric::name_of(link)}, {"sent", tally.sent}, {"lost", tally.lost}};
}

// Reads members of any JSON; what is missing or of another kind is noted, never an exception.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  [[nodiscard]] bool is_good() const { return is_good_; }

  const Json& member(const char* name, Json::value_t kind) {
    static const Json kNone;
    if (json_.is_object()) {
      const auto found = json_.find(name);
      if (found != json_.end() && found->type() == kind) return *found;
    }
    is_good_ = false;
    return kNone;
  }
  std::uint64_t whole(const char* name,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const Json& found = member(name, Json::value_t::number_unsigned);
    const std::uint64_t value = is_good_ ? found.get<std::uint64_t>() : 0;
    if (value > most) is_good_ = false;
    return is_good_ ? value : 0;
  }
  // From 0 on.
  double number(const char* name, double most) {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    if (found == json_.end() || !found->is_number()) return fail();
    const double value = found->get<double>();
    return value >= 0 && value <= most ? value : fail();
  }
  std::string text(const char* name, std::size_t length_max) {
    const Json& found = member(name, Json::value_t::string);
    if (!is_good_) return {};
    std::string value = found.get<std::string>();
    if (value.size() > length_max) is_good_ = false;
    return value;
  }
  Tally tally() {
    const Tally tally{.sent = whole("sent"), .lost = whole("lost")};
    if (tally.lost > tally.sent) is_good_ = false;
    return tally;
  }
  RecentAmounts recent(const char* name) {
    RecentAmounts amounts{};
    const Json& found = member(name, Json::value_t::array);
    if (found.size() != amounts.size()) is_good_ = false;
    for (std::size_t i = 0; is_good_ && i < amounts.size(); ++i) {
      is_good_ = found[i].is_number_unsigned() && found[i].get<std::uint64_t>() <= kAmountMax;
      if (is_good_) amounts[i] = found[i].get<std::uint64_t>();
    }
    return amounts;
  }

 private:
  double fail() {
    is_good_ = false;
    return 0;
  }

  const Json& json_;
  bool is_good_ = true;
};

std::optional<fabric::Shape> read_shape(const Json& json) {
  Reader reader(json);
  const fabric::Shape shape{
      .planes = static_cast<std::uint32_t>(reader.whole("planes", fabric::kPlanesMax)),
      .racks = static_cast<std::uint32_t>(reader.whole("racks", fabric::kRacksMax)),
      .hosts_per_rack =
          static_cast<std::uint32_t>(reader.whole("hosts_per_rack", fabric::kHostsPerRackMax)),
      .uplinks = static_cast<std::uint32_t>(reader.whole("uplinks", fabric::kUplinksMax))};
  if (!reader.is_good() || !fabric::Fabric::make(shape)) return std::nullopt;
  return shape;
}

// A link that the host may speak of.
std::optional<fabric::LinkId> read_link(Reader& reader, const fabric::Fabric& fabric,
                                        fabric::HostIndex host) {
  constexpr std::size_t kLinkNameMax = 64;
  const auto link = parse_link(fabric, reader.text("link", kLinkNameMax));
  if (!reader.is_good() || !link || link->rack != fabric.rack_of(host)) return std::nullopt;
  const bool is_own = link->port == fabric.downlink_of(host);
  if (link->kind == fabric::LinkId::Kind::kHost && !is_own) return std::nullopt;
  return *link;
}

std::optional<Direction> direction_named(std::string_view name) {
  for (std::size_t i = 0; i < kDirections.size(); ++i) {
    if (kDirections[i] == name) return static_cast<Direction>(i);
  }
  return std::nullopt;
}

bool read_uplinks(const Json& list, MapReport& into) {
  for (const Json& each : list) {
    Reader reader(each);
    into.uplinks.push_back(reader.tally());
    if (!reader.is_good()) return false;
  }
  return into.uplinks.size() == into.shape.planes;
}

bool read_links(const Json& list, const fabric::Fabric& fabric, MapReport& into) {
  for (const Json& each : list) {
    Reader reader(each);
    const auto link = read_link(reader, fabric, into.index);
    LinkTally tally{.tally = reader.tally(),
                    .recent = {.both = reader.recent("recent_lost"),
                               .up = reader.recent("recent_lost_up"),
                               .down = reader.recent("recent_lost_down")}};
    if (!link || !reader.is_good()) return false;
    tally.link = *link;
    into.links.push_back(tally);
  }
  return true;
}

bool read_bad(const Json& list, const fabric::Fabric& fabric, MapReport& into) {
  for (const Json& each : list) {
    Reader reader(each);
    const auto link = read_link(reader, fabric, into.index);
    const auto direction = direction_named(reader.text("direction", 16));
    BadLink bad{.loss = reader.number("loss", 1),
                .seen = reader.tally(),
                .age = Duration(static_cast<std::int64_t>(reader.number("for_seconds", kAgeMax) *
                                                          kNsPerSecond))};
    if (!link || !direction || !reader.is_good()) return false;
    bad.link = *link;
    bad.direction = *direction;
    into.bad.push_back(bad);
  }
  return true;
}

bool read_slow(const Json& list, const fabric::Fabric& fabric, MapReport& into) {
  for (const Json& each : list) {
    Reader reader(each);
    const auto link = read_link(reader, fabric, into.index);
    const double delay = reader.number("delay_seconds", kDelayMax);
    if (!link || !reader.is_good()) return false;
    into.slow.push_back(
        {.link = *link, .delay = Duration(static_cast<std::int64_t>(delay * kNsPerSecond))});
  }
  return true;
}

}  // namespace

std::string_view name_of(Direction direction) {
  return kDirections[static_cast<std::size_t>(direction)];
}

MapReport report_of(const ProbePlan& plan, const Judge& judge, Instant now) {
  MapReport report{.index = plan.host(),
                   .shape = plan.fabric().shape(),
                   .recent_rounds = judge.recent_rounds(now),
                   .uplinks = judge.uplink_tallies(),
                   .links = judge.tallies(now)};
  for (const Verdict& each : judge.verdicts()) {
    report.bad.push_back({.link = each.link,
                          .direction = each.direction,
                          .loss = each.loss,
                          .seen = each.seen,
                          .age = now - each.since});
  }
  return report;
}

MapReport report_of(const Mapper& mapper, std::string_view host, std::uint64_t send_failures,
                    Instant now) {
  MapReport report = report_of(mapper.plan(), mapper.judge(), now);
  report.host = std::string(host);
  report.rounds_per_second = mapper.settings().rounds_per_second;
  report.counters = mapper.counters();
  report.send_failures = send_failures;
  report.slow = mapper.delays().slow(now);
  return report;
}

std::string to_json(const MapReport& report) {
  Json json{{"openmrc_map", kVersion},
            {"host", report.host},
            {"index", report.index.raw()},
            {"fabric",
             {{"planes", report.shape.planes},
              {"racks", report.shape.racks},
              {"hosts_per_rack", report.shape.hosts_per_rack},
              {"uplinks", report.shape.uplinks}}},
            {"rounds_per_second", report.rounds_per_second},
            {"send_failures", report.send_failures},
            {"recent_rounds", report.recent_rounds}};
  for (const CounterName& each : kCounters) {
    json["counters"][each.name] = report.counters.*each.member;
  }
  json["uplinks"] = Json::array();
  for (const Tally& each : report.uplinks) {
    json["uplinks"].push_back({{"sent", each.sent}, {"lost", each.lost}});
  }
  json["links"] = Json::array();
  for (const LinkTally& each : report.links) {
    Json link = tally_json(each.link, each.tally);
    link["recent_lost"] = each.recent.both;
    link["recent_lost_up"] = each.recent.up;
    link["recent_lost_down"] = each.recent.down;
    json["links"].push_back(std::move(link));
  }
  json["bad"] = Json::array();
  for (const BadLink& each : report.bad) {
    Json bad = tally_json(each.link, each.seen);
    bad["direction"] = name_of(each.direction);
    bad["loss"] = each.loss;
    bad["for_seconds"] = static_cast<double>(each.age.raw()) / kNsPerSecond;
    json["bad"].push_back(std::move(bad));
  }
  json["slow"] = Json::array();
  for (const SlowLink& each : report.slow) {
    json["slow"].push_back(
        {{"link", fabric::name_of(each.link)},
         {"delay_seconds", static_cast<double>(each.delay.raw()) / kNsPerSecond}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<MapReport, std::string> parse_report(std::string_view text) {
  if (text.size() > kPageBytesMax) return failure(std::string("the page is too long"));
  const Json json = Json::parse(text, nullptr, false);
  Reader reader(json);
  const std::uint64_t version = reader.whole("openmrc_map");
  if (!reader.is_good()) return failure(std::string("this is no page of a mapper"));
  if (version != kVersion) return failure(std::string("the page has another version"));
  MapReport report{.host = reader.text("host", kHostNameMax)};
  const auto shape = read_shape(reader.member("fabric", Json::value_t::object));
  if (!shape) return failure(std::string("the page describes no fabric"));
  report.shape = *shape;
  const fabric::Fabric fabric = *fabric::Fabric::make(*shape);
  report.index = fabric::HostIndex(
      static_cast<std::uint32_t>(reader.whole("index", fabric.hosts() - std::uint64_t{1})));
  report.rounds_per_second =
      static_cast<std::uint32_t>(reader.whole("rounds_per_second", 1'000'000));
  report.send_failures = reader.whole("send_failures");
  report.recent_rounds = reader.recent("recent_rounds");
  Reader counters(reader.member("counters", Json::value_t::object));
  for (const CounterName& each : kCounters)
    report.counters.*each.member = counters.whole(each.name);
  const Json& uplinks = reader.member("uplinks", Json::value_t::array);
  const Json& links = reader.member("links", Json::value_t::array);
  const Json& bad = reader.member("bad", Json::value_t::array);
  const Json& slow = reader.member("slow", Json::value_t::array);
  if (!reader.is_good() || !counters.is_good() || !read_uplinks(uplinks, report) ||
      !read_links(links, fabric, report) || !read_bad(bad, fabric, report) ||
      !read_slow(slow, fabric, report)) {
    return failure(std::string("the page is damaged"));
  }
  return report;
}

}  // namespace openmrc::mapper
