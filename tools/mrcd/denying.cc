// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrcd/denying.h"

#include <fmt/format.h>

#include <iostream>
#include <utility>
#include <vector>

#include "openmrc/agent/durable_file.h"

namespace openmrc::tools {
namespace {

using policy::DenyPolicy;

constexpr std::size_t kFileBytesMax = std::size_t{16} * 1024 * 1024;

void print(const DenyPolicy::Change& change) {
  std::size_t denied = 0;
  for (const libmrc::EvEdit& each : change.edits) {
    if (each.state == MRC_CTL_EV_DENIED) ++denied;
  }
  fmt::print("mrcd: EV profile {}: {} EVs denied, {} good again, by the mapper\n",
             change.profile.raw(), denied, change.edits.size() - denied);
  std::cout.flush();
}

}  // namespace

Result<std::optional<Denying>, host::Error> Denying::open(const std::string& file,
                                                          const host::MapperConfig& config,
                                                          const libmrc::ProfileStore& store) {
  auto text = libmrc::read_file(file, kFileBytesMax);
  if (!text) return failure(host::Error{.what = text.error().what, .remedy = text.error().remedy});
  const bool is_on = config.enabled && config.deny;
  if (!*text && !is_on) return std::nullopt;
  Denying denying(file, is_on, store);
  if (*text) {
    auto policy = DenyPolicy::parse(**text);
    if (!policy) {
      return failure(host::Error{
          .what = fmt::format("{}: {}", file, policy.error()),
          .remedy = "remove it; EVs that are then still DENIED are set back by `mrc ctl`"});
    }
    denying.policy_ = *std::move(policy);
  }
  return denying;
}

Result<void, std::string> Denying::fail(std::string why) {
  if (why == last_failure_) return {};
  last_failure_ = why;
  return failure(std::move(why));
}

Result<void, std::string> Denying::keep(const DenyPolicy& policy) const {
  if (auto kept = libmrc::replace_file(file_, policy.to_json()); !kept) {
    return failure(fmt::format("EVs of bad links cannot be denied: {}; to fix: {}",
                               kept.error().what, kept.error().remedy));
  }
  return {};
}

// What is denied is written down before. What is lifted is taken off the list afterwards. A process
// that is killed in between leaves nothing denied that nobody knows of.
Result<void, std::string> Denying::step(const prober::Prober* prober, libmrc::AgentServer& server) {
  std::vector<mapper::BadLink> bad;
  if (is_on_ && prober != nullptr) bad = prober->report()->bad;
  DenyPolicy next = policy_;
  const auto changes = next.decide(store_->evs(), bad);
  if (next == policy_ && changes.empty()) return {};
  DenyPolicy both = policy_;
  both.add(next);
  if (auto kept = keep(both); !kept) return fail(std::move(kept.error()));
  for (const DenyPolicy::Change& each : changes) {
    const libmrc::Outcome outcome =
        server.apply(libmrc::ModifyEvProfile{each.profile, {.edits = each.edits}});
    if (!outcome.ok()) return fail("EVs of bad links: " + outcome.why);
    print(each);
  }
  policy_ = std::move(next);
  if (auto kept = keep(policy_); !kept) return fail(std::move(kept.error()));
  last_failure_.clear();
  return {};
}

}  // namespace openmrc::tools
