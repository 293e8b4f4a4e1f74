// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "openmrc/datapath/file_descriptor.h"

namespace openmrc::libmrc {
namespace {

namespace fs = std::filesystem;
using datapath::FileDescriptor;
using Done = Result<void, FileFailure>;

constexpr mode_t kStateFileMode = 0644;
constexpr mode_t kStateFolderMode = 0755;

std::string remedy_for(int error, const fs::path& folder) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return fmt::format("free space in {}", folder.string());
    case EROFS:
      return fmt::format("remount {} writable, or move the file with --state", folder.string());
    case EACCES:
    case EPERM:
      return fmt::format("run mrcd as root or as the owner of {}, or move the file with --state",
                         folder.string());
    case ELOOP: return "replace the symbolic link by the file, or name the file with --state";
    default: return fmt::format("check {}, or move the file with --state", folder.string());
  }
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

FileFailure file_failure(const fs::path& file, std::string_view step, int error) {
  return {.error = error,
          .what = fmt::format("{} {}: {}", file.string(), step,
                              std::error_code(error, std::generic_category()).message()),
          .remedy = remedy_for(error, folder_of(file))};
}

int retry_open(const fs::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// 0, or an errno value.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

Done write_new_file(const fs::path& file, std::string_view text) {
  const FileDescriptor out(
      retry_open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, kStateFileMode));
  if (!out.is_open()) return failure(file_failure(file, "cannot be created", errno));
  if (const int error = write_all(out.get(), text); error != 0) {
    return failure(file_failure(file, "cannot be written", error));
  }
  return {};
}

// Where the links of a path end; the path itself if it is no link.
Result<fs::path, FileFailure> target_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_symlink(file, error)) return file;
  fs::path target = fs::canonical(file, error);
  if (error) return failure(file_failure(file, "is a symbolic link to no file", error.value()));
  return target;
}

// 0, or an errno value. Some file systems have no sync of folders: EINVAL.
int sync_folder(const fs::path& folder) {
  const FileDescriptor opened(retry_open(folder, O_RDONLY | O_DIRECTORY));
  if (!opened.is_open()) return errno;
  return ::fsync(opened.get()) == 0 || errno == EINVAL ? 0 : errno;
}

Done make_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return {};
  fs::path made;
  for (const fs::path& part : fs::absolute(folder, ignored)) {
    const fs::path parent = made;
    made /= part;
    if (fs::is_directory(made, ignored)) continue;
    int error = ::mkdir(made.c_str(), kStateFolderMode) == 0 ? 0 : errno;
    if (error == 0) error = sync_folder(parent);
    if (error != 0) return failure(file_failure(made, "cannot be created", error));
  }
  return {};
}

}  // namespace

Done replace_file(const fs::path& file, std::string_view text) {
  const auto target = target_of(file);
  if (!target) return failure(target.error());
  const fs::path folder = folder_of(*target);
  if (auto made = make_folder(folder); !made) return made;
  fs::path fresh = *target;
  fresh += ".new";
  if (auto written = write_new_file(fresh, text); !written) {
    ::unlink(fresh.c_str());  // what it has of a full device is needed by others
    return written;
  }
  if (::rename(fresh.c_str(), target->c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return failure(file_failure(*target, "cannot be replaced", error));
  }
  if (const int error = sync_folder(folder); error != 0) {
    return failure(file_failure(*target, "was replaced, but its folder cannot be synced", error));
  }
  return {};
}

Result<std::optional<std::string>, FileFailure> read_file(const fs::path& file,
                                                          std::size_t bytes_max) {
  const auto target = target_of(file);
  if (!target) return failure(target.error());
  const FileDescriptor in(retry_open(*target, O_RDONLY | O_NONBLOCK));  // a pipe is not waited for
  if (!in.is_open() && errno == ENOENT) return std::nullopt;
  if (!in.is_open()) return failure(file_failure(file, "cannot be read", errno));
  struct stat status{};
  if (::fstat(in.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return failure(file_failure(file, "is not a regular file", EINVAL));
  }
  std::string text;
  std::string block(64 * 1024, '\0');
  for (;;) {
    const ssize_t length = ::read(in.get(), block.data(), block.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return failure(file_failure(file, "cannot be read", errno));
    if (length == 0) return text;
    text.append(block, 0, static_cast<std::size_t>(length));
    if (text.size() > bytes_max) {
      return failure(
          FileFailure{.error = EFBIG,
                      .what = fmt::format("{} has more than {} bytes", file.string(), bytes_max),
                      .remedy = "move it away: it cannot be a state file"});
    }
  }
}

Done check_replaceable(const fs::path& file) {
  const auto target = target_of(file);
  if (!target) return failure(target.error());
  const fs::path folder = folder_of(*target);
  if (auto made = make_folder(folder); !made) return made;
  if (::access(folder.c_str(), W_OK) == 0) return {};
  return failure(file_failure(folder, "cannot be written", errno));
}

}  // namespace openmrc::libmrc
