// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/ledger.h"

#include <algorithm>

namespace openmrc::tagged {

void Ledger::begin(Id id, Buffer& buffer) { entries_.push_back({.id = id, .buffer = &buffer}); }

bool Ledger::is_next(Buffer& buffer) {
  if (!has(buffer)) return true;
  entries_.push_back({.buffer = &buffer, .done = true});
  return false;
}

Ledger::Completed Ledger::finish(Id id) {
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& one) { return one.id == id && !one.done; });
  if (found == entries_.end()) return {};
  found->done = true;
  Completed completed{.buffer = found->buffer};
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->buffer != completed.buffer) {
      ++entry;
      continue;
    }
    if (!entry->done) break;
    entry = entries_.erase(entry);
    ++completed.count;
  }
  return completed;
}

bool Ledger::has(const Buffer& buffer) const {
  return std::ranges::any_of(entries_, [&](const Entry& one) { return one.buffer == &buffer; });
}

void Ledger::forget(const Buffer& buffer) {
  entries_.remove_if([&](const Entry& one) { return one.buffer == &buffer; });
}

}  // namespace openmrc::tagged
