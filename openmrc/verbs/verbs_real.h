// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <type_traits>

// The machine's own libibverbs, for devices that are not ours. It is there if the kernel has such
// devices, or if $OPENMRC_VERBS_REAL names it; empty, that variable says that it is not wanted.
//
// It lives in a link-map namespace of its own: its drivers ask the loader for libibverbs.so.1 and
// would otherwise be given this library, which has that name, too. So it has a libc of its own, and
// errno has to be brought over.
namespace openmrc::libmrc {

// Null if there is no such library or no such function in it.
void* real_symbol(const char* name, const char* node);
// Its errno, of this thread; only if there is a library.
int real_errno();

template <class Signature>
class RealVerb;

template <class Result, class... Parameters>
class RealVerb<Result(Parameters...)> {
 public:
  RealVerb(const char* name, const char* node)
      : function_(reinterpret_cast<Result (*)(Parameters...)>(real_symbol(name, node))) {}

  // `otherwise` is the result if there is no library to ask.
  template <class Otherwise>
  [[nodiscard]] Result call(Otherwise otherwise, Parameters... parameters) const {
    if (function_ == nullptr) {
      errno = ENODEV;
      if constexpr (!std::is_void_v<Result>) return static_cast<Result>(otherwise);
    } else {
      const ErrnoOfReal carry;
      return function_(parameters...);
    }
  }

 private:
  struct ErrnoOfReal {
    ErrnoOfReal() = default;
    ~ErrnoOfReal() { errno = real_errno(); }
    ErrnoOfReal(const ErrnoOfReal&) = delete;
    ErrnoOfReal& operator=(const ErrnoOfReal&) = delete;
  };

  Result (*function_)(Parameters...);
};

}  // namespace openmrc::libmrc
