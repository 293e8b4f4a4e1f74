// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/result_json.h"

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>

#include "openmrc/sim/result/json_text.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::sim {
namespace {

using Json = nlohmann::ordered_json;

// An array with a name for each of its elements. Behind the first `required` those that are zero
// are left out.
template <class T>
struct Named {
  std::span<T> values;
  std::span<const char* const> names;
  std::size_t required;
};

template <class Array, std::size_t kSize>
auto named(Array& values, const std::array<const char*, kSize>& names,
           std::size_t required = kSize) {
  return Named<std::remove_reference_t<decltype(values[0])>>{values, names, required};
}

constexpr std::array<const char*, kLosses> kLossNames{"link_down", "link_error", "data_full",
                                                      "control_full", "in_flight"};
constexpr std::array<const char*, kEvStates> kEvStateNames{"good", "skip", "suspect", "assumed_bad",
                                                           "denied"};
constexpr std::array<const char*, kRetransmitReasons> kRetransmitNames{
    "loss", "probe", "timeout", "trim", "trim_last_hop", "refused", "for_ack"};
constexpr std::array<const char*, kPortKinds> kPortKindNames{"t0_up", "t1_down", "t0_down", "t1_up",
                                                             "t2_down"};
constexpr std::size_t kPortKindsOfTwoTiers = 3;

// The fields of each record, once, for writing and reading. `field` takes a name and a value.
template <class T, class Record>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Record>;

template <MaybeConst<Totals> T>
void describe(T& totals, auto&& field) {
  field("data_packets_sent", totals.data_packets_sent);
  field("control_packets_sent", totals.control_packets_sent);
  field("payload_bytes_sent", totals.payload_bytes_sent);
  field("data_packets_arrived", totals.data_packets_arrived);
  field("trimmed_packets_arrived", totals.trimmed_packets_arrived);
  field("control_packets_arrived", totals.control_packets_arrived);
  field("payload_bytes_arrived", totals.payload_bytes_arrived);
  field("payload_bytes_trimmed", totals.payload_bytes_trimmed);
  field("packets_trimmed", totals.packets_trimmed);
  field("packets_marked", totals.packets_marked);
  field("pauses", totals.pauses);
  field("packets_lost", named(totals.packets_lost, kLossNames));
  field("payload_bytes_lost", named(totals.payload_bytes_lost, kLossNames));
  field("switch_hops", totals.switch_hops);
  field("nic_hops", totals.nic_hops);
  field("retransmissions", totals.retransmissions);
  field("message_bytes_posted", totals.message_bytes_posted);
  field("message_bytes_completed", totals.message_bytes_completed);
  field("messages_failed", totals.messages_failed);
  field("retransmits", named(totals.retransmits, kRetransmitNames));
  field("spurious_retransmits", totals.spurious_retransmits);
  field("evs_suspected", totals.evs_suspected);
  field("evs_lost", totals.evs_lost);
  field("evs_readmitted", totals.evs_readmitted);
}

template <MaybeConst<FlowRecord> T>
void describe(T& flow, auto&& field) {
  field("from", flow.from);
  field("to", flow.to);
  field("tag", flow.tag);
  field("bytes", flow.bytes);
  field("start_ps", flow.start);
  field("end_ps", flow.end);
  field("failed", flow.failed);
}

template <MaybeConst<StepRecord> T>
void describe(T& step, auto&& field) {
  field("begin_ps", step.begin);
  field("end_ps", step.end);
  field("hosts", step.hosts);
}

template <MaybeConst<JobRecord> T>
void describe(T& job, auto&& field) {
  field("name", job.name);
  field("hosts", job.hosts);
  field("begin_ps", job.begin);
  field("end_ps", job.end);
  field("endless", job.endless);
  field("messages", job.messages);
  field("messages_done", job.messages_done);
  field("bytes_done", job.bytes_done);
  field("completion_median_ps", job.completion_median);
  field("completion_p99_ps", job.completion_p99);
  field("completion_max_ps", job.completion_max);
  field("trace_step_ps", job.trace_step);
  field("trace_recorded", job.trace_recorded);
  field("steps", job.steps);
}

template <MaybeConst<Bucket> T>
void describe(T& bucket, auto&& field) {
  field("payload_bytes", bucket.payload_bytes);
  field("ev_changes", named(bucket.ev_changes, kEvStateNames));
  field("queue_max_bytes", named(bucket.queue_max_bytes, kPortKindNames, kPortKindsOfTwoTiers));
  field("marked", bucket.marked);
  field("trimmed", bucket.trimmed);
  field("lost", bucket.lost);
  field("retransmissions", bucket.retransmissions);
}

template <MaybeConst<FaultNote> T>
void describe(T& fault, auto&& field) {
  field("from_ps", fault.from);
  field("to_ps", fault.to);
  field("text", fault.text);
}

// Everything but the lists of records.
template <MaybeConst<RunResult> T>
void describe(T& result, auto&& field) {
  field("scenario", result.scenario);
  field("title", result.title);
  field("transport", result.transport);
  field("seed", result.seed);
  field("hosts", result.hosts);
  field("planes", result.planes);
  field("host_bits_per_second", result.host_bits_per_second);
  field("end_ps", result.end);
  field("finished", result.finished);
  field("evs", result.evs);
  field("totals", result.totals);
  field("bucket_width_ps", result.bucket_width);
}

// Flows and steps are many and all alike: rows of numbers, with the names of the columns once.
template <class Record>
constexpr bool kIsRow = std::same_as<Record, FlowRecord> || std::same_as<Record, StepRecord>;

template <MaybeConst<RunResult> T>
void describe_lists(T& result, auto&& list) {
  list("faults", result.faults);
  list("steps", result.steps);
  list("buckets", result.buckets);
  list("flows", result.flows);
}

// ---- Writing ----

Json json_of(const Totals& totals);

template <class Record>
Json row_of(const Record& record);

template <class T>
Json value_of(const T& value) {
  if constexpr (std::same_as<T, std::vector<StepRecord>>) {
    Json rows = Json::array();
    for (const StepRecord& step : value) rows.push_back(row_of(step));
    return rows;
  } else if constexpr (std::same_as<T, Picoseconds>) {
    return value == kNoTime ? Json(nullptr) : Json(value.raw());
  } else if constexpr (std::same_as<T, Totals>) {
    return json_of(value);
  } else {
    return Json(value);
  }
}

template <class T>
Json value_of(const Named<T>& array) {
  Json object = Json::object();
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    if (i < array.required || array.values[i] != 0) object[array.names[i]] = array.values[i];
  }
  return object;
}

template <class Record>
Json object_of(const Record& record) {
  Json object = Json::object();
  describe(record, [&](const char* name, const auto& value) { object[name] = value_of(value); });
  return object;
}

Json json_of(const Totals& totals) { return object_of(totals); }

template <class Record>
Json row_of(const Record& record) {
  Json row = Json::array();
  describe(record, [&](const char*, const auto& value) { row.push_back(value_of(value)); });
  return row;
}

template <class Record>
Json columns_of() {
  Json names = Json::array();
  const Record record;
  describe(record, [&](const char* name, const auto&) { names.push_back(name); });
  return names;
}

template <class Record>
void write_list(std::string& out, const char* name, const std::vector<Record>& records) {
  if constexpr (kIsRow<Record>) {
    out += fmt::format(",\n\"{}_columns\": {}", name, json_text(columns_of<Record>()));
  }
  out += fmt::format(",\n\"{}\": [", name);
  const char* separator = "\n";
  for (const Record& record : records) {
    out += separator;
    if constexpr (kIsRow<Record>) {
      out += json_text(row_of(record));
    } else {
      out += json_text(object_of(record));
    }
    separator = ",\n";
  }
  out += "\n]";
}

// ---- Reading ----

// Keeps the first thing that is wrong; what comes after it no longer matters.
class Complaint {
 public:
  void add(const std::string& text) {
    if (text_.empty()) text_ = text;
  }
  [[nodiscard]] bool any() const { return !text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>)
bool take(const Json& json, T& value) {
  if (!json.is_number_unsigned()) return false;
  const auto number = json.get<std::uint64_t>();
  value = static_cast<T>(number);
  return number <= std::numeric_limits<T>::max();
}

bool take(const Json& json, std::int64_t& value) {
  if (!json.is_number_integer()) return false;
  value = json.get<std::int64_t>();
  return !json.is_number_unsigned() || value >= 0;  // else it was too large
}

bool take(const Json& json, bool& value) {
  if (!json.is_boolean()) return false;
  value = json.get<bool>();
  return true;
}

bool take(const Json& json, std::string& value) {
  if (!json.is_string()) return false;
  value = json.get<std::string>();
  return true;
}

bool take(const Json& json, Picoseconds& value) {
  std::int64_t number = kNoTime.raw();
  if (!json.is_null() && !take(json, number)) return false;
  value = Picoseconds(number);
  return number >= 0;
}

bool take(const Json& json, std::vector<std::uint64_t>& values) {
  if (!json.is_array()) return false;
  values.resize(json.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!take(json[i], values[i])) return false;
  }
  return true;
}

template <class T>
bool take(const Json& json, const Named<T>& array) {
  if (!json.is_object()) return false;
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const auto found = json.find(array.names[i]);
    if (found == json.end()) {
      if (i < array.required) return false;
      array.values[i] = 0;
    } else if (!take(*found, array.values[i])) {
      return false;
    }
  }
  return true;
}

template <class Record>
void read_row(const Json& json, const std::string& where, Record& record, Complaint& complaint);

template <class Record>
void read_rows(const Json& json, const std::string& where, std::vector<Record>& records,
               Complaint& complaint) {
  if (!json.is_array()) return complaint.add(where + " is not a list");
  records.resize(json.size());
  for (std::size_t i = 0; i < records.size() && !complaint.any(); ++i) {
    read_row(json[i], fmt::format("{}[{}]", where, i), records[i], complaint);
  }
}

template <class Record>
void read_object(const Json& json, const std::string& where, Record& record, Complaint& complaint) {
  if (!json.is_object()) return complaint.add(where + " is not an object");
  describe(record, [&](const char* name, auto&& value) {
    const auto found = json.find(name);
    if (found == json.end()) return complaint.add(fmt::format("{} has no \"{}\"", where, name));
    using Member = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::same_as<Member, Totals>) {
      read_object(*found, name, value, complaint);
    } else if constexpr (std::same_as<Member, std::vector<StepRecord>>) {
      read_rows(*found, fmt::format("{}: \"{}\"", where, name), value, complaint);
    } else if (!take(*found, value)) {
      complaint.add(fmt::format("{}: \"{}\" has an invalid value", where, name));
    }
  });
}

template <class Record>
void read_row(const Json& json, const std::string& where, Record& record, Complaint& complaint) {
  if (!json.is_array()) return complaint.add(where + " is not a row");
  std::size_t column = 0;
  describe(record, [&](const char* name, auto& value) {
    if (column >= json.size() || !take(json[column], value)) {
      complaint.add(fmt::format("{}: \"{}\" has an invalid value", where, name));
    }
    ++column;
  });
}

// Results of one workload have no jobs.
void read_jobs_list(const Json& json, std::vector<JobRecord>& jobs, Complaint& complaint) {
  const auto list = json.find("jobs");
  if (list == json.end()) return;
  if (!list->is_array()) return complaint.add("\"jobs\" is not a list");
  jobs.resize(list->size());
  for (std::size_t i = 0; i < jobs.size() && !complaint.any(); ++i) {
    read_object((*list)[i], fmt::format("jobs[{}]", i), jobs[i], complaint);
  }
}

template <class Record>
void read_list(const Json& json, const char* name, std::vector<Record>& records,
               Complaint& complaint) {
  const auto list = json.find(name);
  if (list == json.end() || !list->is_array()) {
    return complaint.add(fmt::format("no list \"{}\"", name));
  }
  if constexpr (kIsRow<Record>) {
    const auto columns = json.find(fmt::format("{}_columns", name));
    if (columns == json.end() || *columns != columns_of<Record>()) {
      return complaint.add(
          fmt::format("\"{}_columns\" is not {}", name, json_text(columns_of<Record>())));
    }
  }
  records.resize(list->size());
  for (std::size_t i = 0; i < records.size() && !complaint.any(); ++i) {
    const std::string where = fmt::format("{}[{}]", name, i);
    if constexpr (kIsRow<Record>) {
      read_row((*list)[i], where, records[i], complaint);
    } else {
      read_object((*list)[i], where, records[i], complaint);
    }
  }
}

// Far more than there can be; so that sums over a file's slices of time stay sums.
constexpr std::uint64_t kEvsMax = std::uint64_t{1} << 40;

bool is_sound(const Bucket& bucket, const RunResult& result) {
  for (const std::int64_t change : bucket.ev_changes) {
    const auto limit = static_cast<std::int64_t>(result.evs);
    if (change > limit || change < -limit) return false;
  }
  return bucket.payload_bytes.size() == result.planes;
}

void check_steps(const std::vector<StepRecord>& steps, const std::string& where,
                 Complaint& complaint) {
  for (std::size_t i = 0; i < steps.size() && !complaint.any(); ++i) {
    if (steps[i].end < steps[i].begin) {
      complaint.add(fmt::format("{}[{}] ends before it begins", where, i));
    }
  }
}

void check_jobs(const std::vector<JobRecord>& jobs, Complaint& complaint) {
  for (std::size_t i = 0; i < jobs.size() && !complaint.any(); ++i) {
    if (jobs[i].end < jobs[i].begin) {
      complaint.add(fmt::format("jobs[{}] ends before it begins", i));
    }
    check_steps(jobs[i].steps, fmt::format("jobs[{}].steps", i), complaint);
  }
}

void check(const RunResult& result, Complaint& complaint) {
  const auto count = static_cast<std::int64_t>(result.buckets.size());
  if (count > 0 &&
      (result.bucket_width <= Picoseconds(0) || result.bucket_width > kNoTime / (count + 1))) {
    complaint.add("\"bucket_width_ps\" does not suit the buckets");
  }
  if (result.evs > kEvsMax) complaint.add("\"evs\" is too large");
  for (std::size_t i = 0; i < result.buckets.size() && !complaint.any(); ++i) {
    if (!is_sound(result.buckets[i], result)) {
      complaint.add(fmt::format("buckets[{}] does not suit \"planes\" or \"evs\"", i));
    }
  }
  for (std::size_t i = 0; i < result.flows.size() && !complaint.any(); ++i) {
    if (result.flows[i].end < result.flows[i].start) {
      complaint.add(fmt::format("flows[{}] ends before it starts", i));
    }
  }
  check_steps(result.steps, "steps", complaint);
  check_jobs(result.jobs, complaint);
}

void check_format(const Json& json, Complaint& complaint) {
  if (!json.is_object() || json.value("format", Json()) != kResultFormat) {
    return complaint.add(
        fmt::format("this is not a result: its \"format\" is not \"{}\"", kResultFormat));
  }
  if (const Json version = json.value("version", Json()); version != kResultVersion) {
    complaint.add(fmt::format("the result has version {}, and this program reads version {}",
                              json_text(version), kResultVersion));
  }
}

}  // namespace

std::string write_result_json(const RunResult& result, const Origin* origin) {
  std::string out =
      fmt::format("{{\n\"format\": \"{}\",\n\"version\": {}", kResultFormat, kResultVersion);
  if (origin != nullptr) out += ",\n\"origin\": " + origin_json(*origin);
  describe(result, [&](const char* name, const auto& value) {
    out += fmt::format(",\n\"{}\": {}", name, json_text(value_of(value)));
  });
  if (!result.jobs.empty()) write_list(out, "jobs", result.jobs);
  describe_lists(result,
                 [&](const char* name, const auto& records) { write_list(out, name, records); });
  return out + "\n}\n";
}

Result<RunResult, std::string> read_result_json(std::string_view text) {
  if (const auto depth = text::check_json_depth(text); !depth) return failure(depth.error());
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return failure(std::string("this is not JSON"));
  Complaint complaint;
  check_format(json, complaint);
  RunResult result;
  if (!complaint.any()) read_object(json, "the result", result, complaint);
  if (!complaint.any()) {
    describe_lists(result, [&](const char* name, auto& records) {
      read_list(json, name, records, complaint);
    });
  }
  if (!complaint.any()) read_jobs_list(json, result.jobs, complaint);
  if (!complaint.any()) check(result, complaint);
  if (complaint.any()) return failure(complaint.text());
  return result;
}

}  // namespace openmrc::sim
