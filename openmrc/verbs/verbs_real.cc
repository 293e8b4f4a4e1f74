// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/verbs_real.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace openmrc::libmrc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "libibverbs.so.1";

// Where the loader looks for libraries of the program.
std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  void* program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  std::vector<std::byte> memory(size.dls_size);
  auto* info = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, info) != 0) return folders;
  if (dlinfo(program, RTLD_DI_SERINFO, info) != 0) return folders;
  for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
  return folders;
}

bool is_this_library(const fs::path& file) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&is_this_library), &info) == 0) return false;
  std::error_code error;
  return fs::equivalent(file, info.dli_fname, error);
}

bool kernel_has_devices() {
  std::error_code error;
  const fs::directory_iterator devices("/sys/class/infiniband", error);
  return !error && devices != fs::directory_iterator();
}

std::vector<fs::path> candidates() {
  const char* named = std::getenv("OPENMRC_VERBS_REAL");
  if (named != nullptr)
    return *named == '\0' ? std::vector<fs::path>{} : std::vector<fs::path>{named};
  std::vector<fs::path> files;
  if (!kernel_has_devices()) return files;
  for (const fs::path& folder : library_folders()) {
    std::error_code error;
    const fs::path file = folder / kFile;
    if (fs::exists(file, error) && !is_this_library(file)) files.push_back(file);
  }
  return files;
}

void* load() {
  std::string why;
  for (const fs::path& file : candidates()) {
    void* handle = dlmopen(LM_ID_NEWLM, file.c_str(), RTLD_NOW | RTLD_LOCAL);
    // Another build of this library is not what is looked for.
    if (handle != nullptr && dlvsym(handle, "mlx5dv_is_supported", "OPENMRC_1") == nullptr) {
      return handle;
    }
    const char* error = handle == nullptr ? dlerror() : nullptr;
    why = error == nullptr ? file.string() + ": is not of rdma-core" : error;
  }
  if (!why.empty()) {
    std::fprintf(stderr, "openmrc: devices other than openmrc0 are not seen: %s\n", why.c_str());
  }
  return nullptr;
}

void* library() {
  static void* const kHandle = load();
  return kHandle;
}

}  // namespace

void* real_symbol(const char* name, const char* node) {
  if (library() == nullptr) return nullptr;
  void* found = dlvsym(library(), name, node);
  // Private nodes have the number of a release.
  return found != nullptr ? found : dlsym(library(), name);
}

int real_errno() {
  using Location = int* (*)();
  static const auto kLocation = reinterpret_cast<Location>(dlsym(library(), "__errno_location"));
  return kLocation == nullptr ? errno : *kLocation();
}

}  // namespace openmrc::libmrc
