// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/htsim_traffic.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/sim/workload/slice.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::sim {
namespace {

using text::FileError;

using Flow = FlowList::Flow;
using Read = Result<void, std::string>;  // what is wrong with the line that is being read

// Lines have some dozen words.
constexpr std::size_t kLineBytesMax = 4096;

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Picoseconds, perhaps with a fraction, which is cut off.
bool parse_start(std::string_view text, Picoseconds& start) {
  constexpr double kMost = 1e18;
  double value = 0;
  if (!parse_number(text, value) || !(value >= 0) || value > kMost) return false;
  std::int64_t whole = 0;
  start = Picoseconds(parse_number(text, whole) ? whole : static_cast<std::int64_t>(value));
  return true;
}

class TrafficReader {
 public:
  Result<HtsimTraffic, FileError> read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end > kLineBytesMax) {
        return failure(FileError{.line = line_, .message = "is too long for a traffic file"});
      }
      if (auto line = read_line(words_of(text.substr(0, end))); !line) {
        return failure(FileError{.line = line_, .message = std::move(line.error())});
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (auto checked = check_counts(); !checked) return failure(std::move(checked.error()));
    if (auto connected = connect_triggers(); !connected) {
      return failure(std::move(connected.error()));
    }
    return std::move(traffic_);
  }

 private:
  struct Count {
    std::uint32_t line = 0;
    std::uint32_t value = 0;
  };
  struct Trigger {
    std::uint32_t declared_in = 0;  // line; 0: not yet
    std::int32_t fired_by = -1;     // flow
    std::uint32_t fired_in = 0;     // line
  };
  // What is known of a flow beside what FlowList has.
  struct Origin {
    std::uint32_t line = 0;
    std::uint32_t waits_for = 0;  // trigger; 0: none
  };

  [[nodiscard]] Read read_line(const std::vector<std::string_view>& words) {
    if (words.empty() || words[0].starts_with('#')) return {};
    if (words[0] == "Nodes") return read_count(words, nodes_);
    if (words[0] == "Connections") return read_count(words, connections_);
    if (words[0] == "Triggers") return read_count(words, triggers_);
    if (words[0] == "Failures") return read_count(words, failures_);
    if (words[0] == "trigger") return read_trigger(words);
    if (words[0] == "failure") {
      return failure("failures belong in the scenario, as [[fault]]");
    }
    if (words[0].find("->") != std::string_view::npos) return read_flow(words);
    return failure(fmt::format("'{}' begins no line of a traffic file", words[0]));
  }

  [[nodiscard]] Read read_count(const std::vector<std::string_view>& words, Count& count) const {
    if (words.size() != 2 || !parse_number(words[1], count.value)) {
      return failure(fmt::format("'{}' needs a number", words[0]));
    }
    count.line = line_;
    return {};
  }

  [[nodiscard]] Read read_trigger(const std::vector<std::string_view>& words) {
    std::uint32_t id = 0;
    bool oneshot = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "id" && i + 1 < words.size()) {
        if (!parse_number(words[++i], id)) {
          return failure("a trigger's id must be a number");
        }
      } else if (words[i] == "oneshot") {
        oneshot = true;
      } else if (words[i] == "barrier" || words[i] == "multishot") {
        return failure(fmt::format("only oneshot triggers can be used, not {}", words[i]));
      } else {
        return failure(fmt::format("'{}' is not known of a trigger", words[i]));
      }
    }
    if (id == 0) return failure("a trigger needs an id above 0");
    if (!oneshot) return failure("a trigger needs a kind: oneshot");
    Trigger& trigger = triggers_by_id_[id];
    if (trigger.declared_in != 0) {
      return failure(fmt::format("trigger {} stands in line {} already", id, trigger.declared_in));
    }
    trigger.declared_in = line_;
    ++triggers_read_;
    return {};
  }

  // The only attribute whose value can be left out.
  static bool is_bare_msg(const std::vector<std::string_view>& words, std::size_t i) {
    std::uint32_t number = 0;
    return words[i] == "msg" && (i + 1 == words.size() || !parse_number(words[i + 1], number));
  }

  [[nodiscard]] Read read_flow(const std::vector<std::string_view>& words) {
    Flow flow;
    Origin origin{.line = line_};
    const std::size_t arrow = words[0].find("->");
    if (!parse_number(words[0].substr(0, arrow), flow.from) ||
        !parse_number(words[0].substr(arrow + 2), flow.to)) {
      return failure(fmt::format("'{}' must be two hosts, such as 0->5", words[0]));
    }
    bool has_start = false;
    for (std::size_t i = 1; i < words.size(); i += 2) {
      if (is_bare_msg(words, i)) ++i;
      if (i == words.size()) break;
      if (i + 1 == words.size()) return failure(fmt::format("'{}' needs a value", words[i]));
      if (auto result = read_attribute(words[i], words[i + 1], flow, origin); !result) {
        return failure(std::move(result.error()));
      }
      has_start |= words[i] == "start";
    }
    if (has_start == (origin.waits_for != 0)) {
      return failure("a flow needs either a start or a trigger");
    }
    if (flow.bytes == 0) return failure("a flow needs a size above 0");
    traffic_.list.flows.push_back(flow);
    origins_.push_back(origin);
    return {};
  }

  [[nodiscard]] Read read_attribute(std::string_view name, std::string_view value, Flow& flow,
                                    Origin& origin) {
    std::uint32_t number = 0;
    bool good = false;
    if (name == "start") {
      good = parse_start(value, flow.start);
    } else if (name == "size") {
      good = parse_number(value, flow.bytes);
      if (flow.bytes > kMessageBytesMax) return failure("a flow has at most 1 TiB");
    } else if (name == "trigger") {
      good = parse_number(value, origin.waits_for) && origin.waits_for != 0;
    } else if (name == "send_done_trigger" || name == "recv_done_trigger") {
      good = parse_number(value, number) && number != 0;
      if (good) return fires(number);
    } else if (name == "id" || name == "prio" || name == "msg") {
      good = parse_number(value, number);
    } else {
      return failure(fmt::format("'{}' is not known of a flow", name));
    }
    if (good) return {};
    return failure(fmt::format("'{}' cannot be {}", name, value));
  }

  // The flow that is being read fires this trigger.
  [[nodiscard]] Read fires(std::uint32_t id) {
    Trigger& trigger = triggers_by_id_[id];
    if (trigger.fired_by >= 0) {
      return failure(fmt::format("trigger {} is fired in line {} already", id, trigger.fired_in));
    }
    trigger.fired_by = static_cast<std::int32_t>(traffic_.list.flows.size());
    trigger.fired_in = line_;
    return {};
  }

  [[nodiscard]] Result<void, FileError> check_counts() {
    if (nodes_.value == 0) {
      return failure(FileError{.line = nodes_.line, .message = "Nodes is missing"});
    }
    const auto differs = [](const Count& count, std::size_t there, std::string_view what) {
      return FileError{
          .line = count.line,
          .message = fmt::format("the file says {} {} and has {}", count.value, what, there)};
    };
    if (connections_.value != origins_.size()) {
      return failure(differs(connections_, origins_.size(), "connections"));
    }
    if (triggers_.value != triggers_read_) {
      return failure(differs(triggers_, triggers_read_, "triggers"));
    }
    if (failures_.value != 0) return failure(differs(failures_, 0, "failures"));
    traffic_.nodes = nodes_.value;
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      const Flow& flow = traffic_.list.flows[i];
      if (flow.from < nodes_.value && flow.to < nodes_.value) continue;
      return failure(
          FileError{.line = origins_[i].line,
                    .message = fmt::format("{}->{}: the last of {} nodes is {}", flow.from, flow.to,
                                           nodes_.value, nodes_.value - 1)});
    }
    return {};
  }

  [[nodiscard]] Result<void, FileError> connect_triggers() {
    std::vector<Flow>& flows = traffic_.list.flows;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const auto [line, id] = origins_[i];
      if (id == 0) continue;
      const auto found = triggers_by_id_.find(id);
      if (found == triggers_by_id_.end() || found->second.declared_in == 0) {
        return failure(
            FileError{.line = line, .message = fmt::format("there is no trigger {}", id)});
      }
      const std::int32_t by = found->second.fired_by;
      if (by < 0) {
        return failure(
            FileError{.line = line, .message = fmt::format("no flow fires trigger {}", id)});
      }
      const Flow& other = flows[static_cast<std::size_t>(by)];
      if (other.from != flows[i].from && other.to != flows[i].from) {
        return failure(FileError{
            .line = line,
            .message =
                fmt::format("host {} cannot know of trigger {}, which the flow {}->{} of line "
                            "{} fires: it neither sends nor receives it",
                            flows[i].from, id, other.from, other.to, found->second.fired_in)});
      }
      flows[i].after = by;
    }
    return {};
  }

  HtsimTraffic traffic_;
  std::vector<Origin> origins_;  // of the flows
  std::map<std::uint32_t, Trigger> triggers_by_id_;
  std::size_t triggers_read_ = 0;
  Count nodes_;
  Count connections_;
  Count triggers_;
  Count failures_;
  std::uint32_t line_ = 0;
};

}  // namespace

Result<HtsimTraffic, text::FileError> parse_htsim_traffic(std::string_view text) {
  if (auto fits = text::check_size(text, text::kTrafficBytesMax); !fits) {
    return failure(std::move(fits.error()));
  }
  return TrafficReader().read(text);
}

}  // namespace openmrc::sim
