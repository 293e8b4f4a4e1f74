// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/publishers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::libmrc {
namespace {

using host::HostValues;

static_assert(std::ranges::equal(host::kPageRefusals,
                                 std::span(Publishers::kRefusalNames).first(3)));

}  // namespace

Result<void, Publishers::Refusal> Publishers::refuse(Refusal reason) {
  ++refused_[static_cast<std::size_t>(reason)];
  return failure(reason);
}

Result<void, Publishers::Refusal> Publishers::add(Id id, const Publication& who,
                                                  const datapath::FileDescriptor& page) {
  const std::lock_guard lock(mutex_);
  OPENMRC_CHECK(!watched_.contains(id), "a connection publishes once");
  auto opened = host::WatchedPage::open(page);
  if (!opened) return refuse(static_cast<Refusal>(opened.error()));
  if (!admission_.admit(who.user)) return refuse(Refusal::kTooMany);
  planes_ = std::max(planes_, opened->planes());
  watched_.emplace(id, Watched{.who = who, .page = std::move(*opened)});
  return {};
}

void Publishers::remove(Id id) {
  const std::lock_guard lock(mutex_);
  const auto found = watched_.find(id);
  if (found == watched_.end()) return;
  look(found->second);
  admission_.leave(found->second.who.user);
  watched_.erase(found);
}

void Publishers::look(Watched& watched) {
  HostValues now;
  watched.page.read(now);
  for (std::size_t i = 0; i < HostValues::kFirstGauge; ++i) {
    if (now.at(i) <= watched.last.at(i)) continue;
    sums_.at(i) += now.at(i) - watched.last.at(i);
    watched.last.at(i) = now.at(i);
  }
  for (std::size_t i = HostValues::kFirstGauge; i < HostValues::kSize; ++i) {
    watched.last.at(i) = now.at(i);
  }
}

void Publishers::look_at_all() {
  for (auto& [id, watched] : watched_) look(watched);
}

Publishers::Totals Publishers::totals() {
  const std::lock_guard lock(mutex_);
  look_at_all();
  Totals totals{
      .values = sums_, .planes = planes_, .processes = watched_.size(), .refused = refused_};
  for (const auto& [id, watched] : watched_) {
    for (std::size_t i = HostValues::kFirstGauge; i < HostValues::kSize; ++i) {
      totals.values.at(i) += watched.last.at(i);
    }
  }
  return totals;
}

std::vector<Publishers::Process> Publishers::processes() {
  const std::lock_guard lock(mutex_);
  look_at_all();
  std::map<std::pair<pid_t, std::string>, Process> found;
  for (const auto& [id, watched] : watched_) {
    Process& process = found[{watched.who.process, watched.page.program()}];
    process.planes = std::max(process.planes, watched.page.planes());
    for (std::size_t i = 0; i < HostValues::kSize; ++i) {
      process.values.at(i) += watched.last.at(i);
    }
  }
  std::vector<Process> list;
  list.reserve(found.size());
  for (auto& [key, process] : found) {
    process.process = key.first;
    process.program = key.second;
    list.push_back(std::move(process));
  }
  return list;
}

}  // namespace openmrc::libmrc
