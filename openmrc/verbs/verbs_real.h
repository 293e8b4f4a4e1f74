// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cerrno>
#include <type_traits>

// The machine's own libibverbs, for devices that are not ours. This library needs it under the name
// libibverbs-system.so.1, which is a link to it; where rdma-core is not installed, the loader finds
// an empty library of that name instead (verbs_stub.c). So both are in one namespace: drivers, and
// programs linked to them, have their private functions from the real one and all others from here.
// The real one's own calls of public functions arrive here, too, and are sent back by address.
namespace openmrc::libmrc {

// Whether there is more than the empty one.
bool has_real_library();

// Null if there is no such library or no such function in it.
void* real_symbol(const char* name, const char* node);

template <class Signature>
class RealVerb;

// A function of it, looked up when it is first asked for. Without a lock: the loader has its own,
// and may call back while it is held.
template <class Result, class... Parameters>
class RealVerb<Result(Parameters...)> {
 public:
  constexpr RealVerb(const char* name, const char* node) : name_(name), node_(node) {}

  [[nodiscard]] bool is_there() const { return function() != nullptr; }

  // `otherwise` is the result if there is no library to ask.
  template <class Otherwise>
  [[nodiscard]] Result call(Otherwise otherwise, Parameters... parameters) const {
    if (Function* const found = function(); found != nullptr) return found(parameters...);
    errno = ENODEV;
    if constexpr (!std::is_void_v<Result>) return static_cast<Result>(otherwise);
  }

 private:
  using Function = Result(Parameters...);

  Function* function() const {
    if (!looked_up_.load(std::memory_order_acquire)) {
      found_.store(reinterpret_cast<Function*>(real_symbol(name_, node_)),
                   std::memory_order_relaxed);
      looked_up_.store(true, std::memory_order_release);
    }
    return found_.load(std::memory_order_relaxed);
  }

  const char* name_;
  const char* node_;
  mutable std::atomic<Function*> found_ = nullptr;
  mutable std::atomic<bool> looked_up_ = false;
};

}  // namespace openmrc::libmrc
