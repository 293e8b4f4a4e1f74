// SPDX-License-Identifier: BSD-3-Clause
// The exported functions of verbs.def.
#include <array>
#include <type_traits>

#include "openmrc/verbs/verbs_real.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

template <class Result, class Otherwise>
Result refuse(Otherwise otherwise) {
  errno = EOPNOTSUPP;
  if constexpr (!std::is_void_v<Result>) return static_cast<Result>(otherwise);
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
  static const RealVerb<result parameters> kReal(#name, node);                 \
  return ask(kReal, otherwise) arguments

#define OPENMRC_VERB(node, result, name, parameters, arguments, otherwise)  \
  result name parameters {                                                  \
    if (is_about_soft arguments) return soft_verbs::name arguments;         \
    OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise); \
  }
#define OPENMRC_VERB_REFUSED(node, result, name, parameters, arguments, otherwise) \
  result name parameters {                                                         \
    if (is_about_soft arguments) return refuse<result>(otherwise);                 \
    OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise);        \
  }
#define OPENMRC_VERB_OF_OTHERS(node, result, name, parameters, arguments, otherwise) \
  result name parameters { OPENMRC_ASK_REAL(node, result, name, parameters, arguments, otherwise); }
#include "openmrc/verbs/verbs.def"

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
