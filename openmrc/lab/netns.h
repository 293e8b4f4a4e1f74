// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"

// Network namespaces that have a name, and what is in them.
namespace openmrc::lab {

// Namespaces whose names begin so, sorted.
std::vector<std::string> spaces_with_prefix(std::string_view prefix);
bool space_exists(const std::string& space);

// Processes in any of the namespaces, without this one and those that it descends from.
std::vector<pid_t> processes_in(std::span<const std::string> spaces);
// Asks them to end, and ends them if they do not within half a second.
void end_processes(std::span<const std::string> spaces);

// Enters a namespace for as long as it lives; what is opened meanwhile stays there.
class SpaceVisit {
 public:
  static Result<SpaceVisit, std::string> enter(const std::string& space);
  // A temporary namespace.
  static Result<SpaceVisit, std::string> enter_new();
  ~SpaceVisit();
  SpaceVisit(SpaceVisit&& other) noexcept;
  SpaceVisit(const SpaceVisit&) = delete;
  SpaceVisit& operator=(const SpaceVisit&) = delete;
  SpaceVisit& operator=(SpaceVisit&&) = delete;

  // Does not go back.
  void stay();

 private:
  explicit SpaceVisit(int home) : home_(home) {}

  int home_;  // the namespace to go back to
};

// The interfaces of a namespace, looked at and switched without another program: a cut shall take
// effect at once.
class Interfaces {
 public:
  static Result<Interfaces, std::string> of(const std::string& space);
  ~Interfaces();
  Interfaces(Interfaces&& other) noexcept;
  Interfaces(const Interfaces&) = delete;
  Interfaces& operator=(const Interfaces&) = delete;
  Interfaces& operator=(Interfaces&&) = delete;

  struct State {
    bool exists = false;
    bool up = false;       // administratively
    bool carrier = false;  // and the other end is up too
  };
  [[nodiscard]] State state(const std::string& interface) const;
  [[nodiscard]] Result<void, std::string> set_down(const std::string& interface) const;

 private:
  Interfaces(std::string space, int socket) : space_(std::move(space)), socket_(socket) {}

  std::string space_;
  int socket_;
};

}  // namespace openmrc::lab
