// SPDX-License-Identifier: BSD-3-Clause
// The exported functions of verbs.def.
#include <array>
#include <exception>
#include <filesystem>
#include <type_traits>

#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_real.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

// `otherwise` is what the function returns if there is nobody: an error number, a negative one, or
// something that says to look at errno.
template <class Result, class Otherwise>
Result refuse(int error, Otherwise otherwise) {
  errno = error;
  if constexpr (std::is_same_v<Otherwise, int>) {
    if (otherwise == ENODEV) return static_cast<Result>(error);
    if (otherwise == -ENODEV) return static_cast<Result>(-error);
  }
  if constexpr (!std::is_void_v<Result>) return static_cast<Result>(otherwise);
}

// Nothing is thrown at C.
template <class Result, class Otherwise, class Call>
Result without_throwing(Otherwise otherwise, Call call) {
  try {
    return call();
  } catch (const std::exception&) {
    return refuse<Result>(ENOMEM, otherwise);
  }
}

// Name and numbers of a device are constants, which a forked child may read.
template <class... Rest>
bool is_refused_here(const ibv_device* /*device*/, const Rest&... /*rest*/) {
  return false;
}
template <class Object, class... Rest>
bool is_refused_here(const Object* /*object*/, const Rest&... /*rest*/) {
  return in_forked_child();
}

bool kernel_has_devices() {
  std::error_code error;
  const std::filesystem::directory_iterator devices("/sys/class/infiniband", error);
  return !error && devices != std::filesystem::directory_iterator();
}

// Puts what there is for nobody in front of the arguments.
template <class Result, class... Parameters, class Otherwise>
auto ask(const RealVerb<Result(Parameters...)>& verb, Otherwise otherwise) {
  return
      [&verb, otherwise](Parameters... parameters) { return verb.call(otherwise, parameters...); };
}

}  // namespace
}  // namespace openmrc::libmrc

using namespace openmrc::libmrc;  // NOLINT: the functions below are public

extern "C" {
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers are others'

#define OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise) \
  static constinit const RealVerb<result parameters> kReal(#name, node);       \
  return ask(kReal, otherwise) arguments

#define OPENMRC_VERB(node, result, name, parameters, arguments, otherwise)             \
  result name parameters {                                                             \
    return without_throwing<result>(otherwise, [&]() -> result {                       \
      if (is_about_soft arguments) {                                                   \
        if (is_refused_here arguments) return refuse<result>(kForkedError, otherwise); \
        return soft_verbs::name arguments;                                             \
      }                                                                                \
      OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise);          \
    });                                                                                \
  }
#define OPENMRC_VERB_REFUSED(node, result, name, parameters, arguments, otherwise) \
  result name parameters {                                                         \
    return without_throwing<result>(otherwise, [&]() -> result {                   \
      if (is_about_soft arguments) return refuse<result>(EOPNOTSUPP, otherwise);   \
      OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise);      \
    });                                                                            \
  }
#define OPENMRC_VERB_OF_OTHERS(node, result, name, parameters, arguments, otherwise) \
  result name parameters {                                                           \
    return without_throwing<result>(otherwise, [&]() -> result {                     \
      OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise);        \
    });                                                                              \
  }
#include "openmrc/verbs/verbs.def"

// Memory of the soft device is not pinned, and a child's calls are refused: a process that has no
// other may fork without preparation. The child itself has no device.
ibv_fork_status ibv_is_fork_initialized() {
  if (in_forked_child()) return IBV_FORK_DISABLED;
  if (soft_device() != nullptr && !kernel_has_devices()) return IBV_FORK_UNNEEDED;
  OPENMRC_ASK_REAL("IBVERBS_1.13", ibv_fork_status, ibv_is_fork_initialized, (), (),
                   IBV_FORK_UNNEEDED);
}

// Some programs name functions of libmlx5 without linking it. No device that they can be asked
// about through here is one of its kind.
bool mlx5dv_is_supported(ibv_device* /*device*/) { return false; }
ibv_mr* mlx5dv_reg_dmabuf_mr(ibv_pd* /*pd*/, std::uint64_t /*offset*/, std::size_t /*length*/,
                             std::uint64_t /*iova*/, int /*fd*/, int /*access*/,
                             int /*mlx5_access*/) {
  return null(EOPNOTSUPP);
}
int mlx5dv_get_data_direct_sysfs_path(ibv_context* /*context*/, char* /*buffer*/,
                                      std::size_t /*size*/) {
  return ENODEV;
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
}  // extern "C"
