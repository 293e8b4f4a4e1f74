// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/verbs_real.h"

#include <dlfcn.h>

#include <cstdio>

namespace openmrc::libmrc {
namespace {

constexpr const char* kFile = "libibverbs-system.so.1";

// Loaded with this library, which needs it.
void* find_library() {
  const int error = errno;
  void* const handle = dlopen(kFile, RTLD_LAZY | RTLD_NOLOAD);
  errno = error;
  if (handle == nullptr) return nullptr;
  // A link that leads back here, or to another build of this library, would be asked for ever.
  if (dlvsym(handle, "mlx5dv_is_supported", "OPENMRC_1") == nullptr) return handle;
  std::fprintf(stderr,
               "openmrc: devices other than openmrc0 are not seen: %s is a link to a library of "
               "OpenMRC, not of rdma-core\n",
               kFile);
  return nullptr;
}

// Looked for when this library is loaded, after those that it needs: no call has to wait for it.
void* const kLibrary = find_library();

}  // namespace

void* real_symbol(const char* name, const char* node) {
  if (kLibrary == nullptr) return nullptr;
  void* found = dlvsym(kLibrary, name, node);
  // Private nodes have the number of a release.
  return found != nullptr ? found : dlsym(kLibrary, name);
}

bool has_real_library() {
  static constinit const RealVerb<void()> kAny("ibv_get_device_list", "IBVERBS_1.1");
  return kAny.is_there();
}

}  // namespace openmrc::libmrc
