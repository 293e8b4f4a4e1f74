// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/runtime_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/sockets.h"

namespace openmrc::datapath {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kGroupAndOthers = 0077;
constexpr mode_t kRootAndReaders = 0755;

Error folder_error(std::string what) {
  return {.what = std::move(what),
          .remedy = "name a folder of your own in OPENMRC_RUNTIME_DIR, for all processes alike"};
}

bool is_own_folder(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid();
}

// Any user can create a folder in /tmp under the usual name. Then there is one with a random
// ending, which all later processes find by its owner.
Result<std::string, Error> folder_in_tmp() {
  std::string usual = fmt::format("/tmp/openmrc-{}", ::geteuid());
  std::string own;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/tmp", error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path().string();
    if (!path.starts_with(usual + ".") || !is_own_folder(path)) continue;
    if (own.empty() || path < own) own = path;
  }
  if (!own.empty()) return own;
  if (make_private_folder(usual)) return usual;
  own = usual + ".XXXXXX";
  if (::mkdtemp(own.data()) != nullptr) return own;
  return failure(folder_error(with_reason("cannot create " + own, errno)));
}

Result<std::string, Error> choose_folder() {
  const char* given = ::secure_getenv("OPENMRC_RUNTIME_DIR");
  if (given != nullptr && *given != '\0') return given;
  if (::geteuid() == 0) {
    ::mkdir("/run/openmrc", kRootAndReaders);  // a failure shows in what follows
    return "/run/openmrc/shards";
  }
  const std::string of_session = fmt::format("/run/user/{}", ::geteuid());
  if (is_own_folder(of_session)) return of_session + "/openmrc";
  return folder_in_tmp();
}

}  // namespace

Result<void, Error> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return failure(folder_error(with_reason("cannot create " + path, errno)));
  }
  const FileDescriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found{};
  if (!folder.is_open() || ::fstat(folder.get(), &found) != 0) {
    return failure(folder_error(with_reason("cannot use " + path, errno)));
  }
  if (found.st_uid != ::geteuid()) {
    return failure(folder_error(fmt::format("{} belongs to user {}", path, found.st_uid)));
  }
  if ((found.st_mode & kGroupAndOthers) != 0) {
    return failure(folder_error(
        fmt::format("{} is open to other users (mode {:04o})", path, found.st_mode & 07777)));
  }
  return {};
}

Result<std::string, Error> runtime_folder() {
  auto path = choose_folder();
  if (!path) return path;
  if (auto made = make_private_folder(*path); !made) return failure(std::move(made.error()));
  return path;
}

}  // namespace openmrc::datapath
