// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_state_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "openmrc/agent/durable_file.h"
#include "openmrc/agent/profiles/profile_json.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::libmrc {

// Profiles with their numbers.
struct SavedFormat {
  FormatId id{};
  FormatProfile profile{};
};
struct SavedEvProfile {
  EvProfileId id{};
  EvProfile profile{};
};
struct SavedCcProfile {
  CcProfileId id{};
  CcProfile profile{};
};
struct SavedState {
  std::uint32_t version = 1;
  std::vector<std::uint8_t> disabled_ports{};
  std::vector<SavedFormat> formats{};
  std::vector<SavedEvProfile> ev_profiles{};
  std::vector<SavedCcProfile> cc_profiles{};
};

template <class Archive, class T>
  requires As<T, SavedFormat> || As<T, SavedEvProfile> || As<T, SavedCcProfile>
static void fields(Archive& archive, T& saved) {
  archive("id", saved.id);
  archive("profile", saved.profile);
}
template <class Archive, As<SavedState> T>
static void fields(Archive& archive, T& saved) {
  archive("version", saved.version);
  archive("disabled_ports", saved.disabled_ports);
  archive("formats", saved.formats);
  archive("ev_profiles", saved.ev_profiles);
  archive("cc_profiles", saved.cc_profiles);
}

std::string state_text(const ProfileStore& store) {
  SavedState state;
  for (std::size_t port = 1; port <= store.limits().planes; ++port) {
    const auto number = static_cast<std::uint8_t>(port);
    if (!store.port_enabled(PortNumber(number))) state.disabled_ports.push_back(number);
  }
  for (const auto& [id, profile] : store.formats().all()) state.formats.push_back({id, profile});
  for (const auto& [id, profile] : store.evs().all()) state.ev_profiles.push_back({id, profile});
  for (const auto& [id, profile] : store.ccs().all()) state.cc_profiles.push_back({id, profile});
  return json_of(state).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void, std::string> restore_state(std::string_view text, ProfileStore& store,
                                        std::vector<std::string>& left_out) {
  if (text.empty()) return failure(std::string("the file is empty"));
  if (const auto depth = text::check_json_depth(text); !depth) return failure(depth.error());
  SavedState state;
  const std::string error = read_json(Json::parse(text, nullptr, false), state);
  if (!error.empty()) return failure("what was saved " + error);
  if (state.version != 1) return failure("what was saved is of another version");
  for (const std::uint8_t port : state.disabled_ports) store.set_port(PortNumber(port), false);
  const auto keep = [&](const char* kind, std::uint64_t id, const Outcome& outcome) {
    if (!outcome.ok())
      left_out.push_back(std::string(kind) + std::to_string(id) + ": " + outcome.why);
  };
  for (auto& [id, profile] : state.formats) {
    keep("EV format profile ", id.raw(), store.restore(id, std::move(profile)));
  }
  for (auto& [id, profile] : state.ev_profiles) {
    keep("EV profile ", id.raw(), store.restore(id, std::move(profile)));
  }
  for (auto& [id, profile] : state.cc_profiles) {
    keep("congestion control profile ", id.raw(), store.restore(id, std::move(profile)));
  }
  return {};
}

Outcome save_state(const std::filesystem::path& file, const ProfileStore& store) {
  const auto replaced = replace_file(file, state_text(store));
  if (replaced) return {};
  const FileFailure& why = replaced.error();
  return refused(why.error, fmt::format("not changed, because it cannot be saved: {}; to fix: {}",
                                        why.what, why.remedy));
}

Result<LoadedState, host::Error> load_state(const std::filesystem::path& file,
                                            ProfileStore& store) {
  const auto text = read_file(file, kStateBytesMax);
  if (!text) return failure(host::Error{.what = text.error().what, .remedy = text.error().remedy});
  LoadedState loaded{.found = text->has_value()};
  if (!loaded.found) return loaded;
  if (const auto restored = restore_state(**text, store, loaded.left_out); !restored) {
    return failure(host::Error{.what = fmt::format("{}: {}", file.string(), restored.error()),
                               .remedy =
                                   "restore it from a backup, or move it away to begin without "
                                   "profiles"});
  }
  return loaded;
}

}  // namespace openmrc::libmrc
