// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/config.h"
#include "openmrc/host/host.h"
#include "openmrc/verbs/memory_table.h"

namespace openmrc::libmrc {

class ProfilesInUse;

using Gid = wire::Ipv6Address;
using host::ProtectionDomain;

// The host of openmrc.toml as verbs know hosts: a device whose ports are the planes. One runtime
// serves all of the process's contexts on it, and starts when the first of them needs it.
class Device {
 public:
  // What befalls paths and queue pairs. Called while a shard waits: quick, and without calls back.
  class Listener {
   public:
    virtual void on_event(const core::Event& event) = 0;
    virtual void on_port(Plane /*plane*/, bool /*up*/) {}

   protected:
    ~Listener() = default;
  };

  // The place of the host's IPv4 name in every port's GID table, and of the first plane's address;
  // before them are a link-local GID and nothing (soft-verbs conventions of RoCE tools).
  static constexpr unsigned kGidIpv4 = 3;
  static constexpr unsigned kGidFirstPlane = 4;

  explicit Device(std::string name, host::Config config);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The device of this process, made from the configuration at the first call; null if there is
  // none, and then why() says so. It stays until the process ends: threads may still use it then.
  static Device* of_process();
  static const std::string& why();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t guid() const { return guid_; }
  [[nodiscard]] const host::Config& config() const { return config_; }
  [[nodiscard]] unsigned ports() const { return static_cast<unsigned>(config_.ports.size()); }
  [[nodiscard]] unsigned gids() const { return kGidFirstPlane + ports(); }
  [[nodiscard]] Gid gid(unsigned index) const;  // zero: nothing there
  // Ports count from 1.
  [[nodiscard]] bool port_is_up(unsigned port);
  [[nodiscard]] bool any_port_is_up();

  // Who has this GID; nothing if neither the fabric nor the list of peers has it.
  [[nodiscard]] std::optional<host::Destination> destination_of(const Gid& gid) const;

  // SRv6: a path to there whose last steps, which the destination gives, may be missing.
  [[nodiscard]] wire::Ipv6Address completed(const wire::Ipv6Address& path,
                                            const host::Destination& to) const;

  // Starts the runtime if it does not run.
  [[nodiscard]] Result<host::Host*, host::Error> runtime();
  // Once it runs.
  [[nodiscard]] ProfilesInUse& profiles() { return *profiles_; }
  [[nodiscard]] MemoryTable& memory() { return memory_; }

  void add_listener(Listener& listener);
  void remove_listener(Listener& listener);

 private:
  void on_event(const core::Event& event);
  void on_port(Plane plane, bool up);
  [[nodiscard]] std::optional<host::Destination> known_peer(const Gid& gid) const;

  std::string name_;
  host::Config config_;
  std::optional<fabric::UsidPlan> plan_;  // of the fabric, if the host is in one
  std::uint64_t guid_;
  MemoryTable memory_;
  std::mutex listeners_mutex_;
  std::vector<Listener*> listeners_;
  std::mutex runtime_mutex_;
  std::unique_ptr<host::Host> runtime_;
  std::unique_ptr<ProfilesInUse> profiles_;
};

}  // namespace openmrc::libmrc
