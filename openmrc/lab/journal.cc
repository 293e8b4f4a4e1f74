// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "openmrc/fabric/names.h"
#include "openmrc/lab/layout.h"

namespace openmrc::lab {
namespace {

constexpr std::array<std::string_view, 4> kJournalKinds{"cut", "port", "loss", "healed"};

std::filesystem::path journal_file(const Spec& spec) {
  return folder_of(spec.name) / "journal.jsonl";
}

std::string cannot_write(const std::filesystem::path& path) {
  return fmt::format("cannot write '{}': {}", path.string(),
                     std::generic_category().message(errno));
}

std::optional<JournalEntry::Kind> journal_kind(const nlohmann::json& name) {
  for (std::size_t i = 0; i < kJournalKinds.size(); ++i) {
    if (name == kJournalKinds[i]) return static_cast<JournalEntry::Kind>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string to_line(const JournalEntry& entry) {
  nlohmann::ordered_json line{{"at_ns", entry.at_ns},
                              {"did", kJournalKinds[static_cast<std::size_t>(entry.kind)]},
                              {"loss", entry.loss},
                              {"links", nlohmann::ordered_json::array()}};
  for (const fabric::LinkId& link : entry.links) line["links"].push_back(name_of(link));
  return line.dump() + "\n";
}

std::optional<JournalEntry> entry_from(std::string_view line, const fabric::Fabric& fabric) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto kind = journal_kind(json.value("did", nlohmann::json()));
  const auto at = json.find("at_ns");
  const auto loss = json.find("loss");
  const auto links = json.find("links");
  if (!kind || at == json.end() || !at->is_number_integer() || loss == json.end() ||
      !loss->is_number_unsigned() || links == json.end() || !links->is_array()) {
    return std::nullopt;
  }
  JournalEntry entry{.kind = *kind, .at_ns = *at, .loss = *loss};
  for (const auto& name : *links) {
    if (!name.is_string()) return std::nullopt;
    const auto link = parse_link(fabric, name.get_ref<const std::string&>());
    if (!link) return std::nullopt;
    entry.links.push_back(*link);
  }
  return entry;
}

// One write for each line, so that those of several processes do not mix.
Result<void, std::string> write_journal(const Spec& spec, const JournalEntry& entry) {
  const std::filesystem::path path = journal_file(spec);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return failure(cannot_write(path));
  struct stat status{};
  const std::string line = to_line(entry);
  bool written = fstat(file, &status) == 0;
  if (written && static_cast<std::size_t>(status.st_size) < kJournalBytesMax) {
    written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }
  std::string problem = written ? std::string{} : cannot_write(path);
  ::close(file);
  if (!written) return failure(std::move(problem));
  return {};
}

Result<std::vector<JournalEntry>, std::string> read_journal(const Spec& spec) {
  const std::filesystem::path path = journal_file(spec);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::vector<JournalEntry>{};
  if (std::filesystem::file_size(path, error) >= kJournalBytesMax) {
    return failure(
        fmt::format("'{}' is full, so it does not have all that was done; remove it to "
                    "begin a new one",
                    path.string()));
  }
  std::ifstream file(path);
  std::vector<JournalEntry> entries;
  const fabric::Fabric fabric = spec.fabric();
  for (std::string line; std::getline(file, line);) {
    auto entry = entry_from(line, fabric);
    if (!entry) {
      return failure(fmt::format("'{}', line {}: is not what a lab with this fabric writes",
                                 path.string(), entries.size() + 1));
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace openmrc::lab
