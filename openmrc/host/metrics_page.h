// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/host_values.h"

// Memory that a process shares with the node's agent, to be seen by it at any time: the process
// writes its numbers there, without a lock and without a call, and they stay readable when it is
// killed. The agent checks what it finds.
namespace openmrc::host {

struct MetricsPage {
  static constexpr std::uint64_t kMagic = 0x6d72632d6d657431;  // "mrc-met1"
  static constexpr std::size_t kProgramMax = 32;

  std::uint64_t magic = kMagic;
  std::uint64_t layout = 0;
  std::array<char, kProgramMax> program{};  // not necessarily with a 0 at its end
  std::atomic<std::uint64_t> planes = 0;
  std::array<std::atomic<std::uint64_t>, HostValues::kSize> values{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A mapping, until it is destroyed.
template <class Page>
class MappedPage {
 public:
  MappedPage() = default;
  explicit MappedPage(Page* page) : page_(page) {}
  MappedPage(MappedPage&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}
  MappedPage& operator=(MappedPage&& other) noexcept {
    std::swap(page_, other.page_);
    return *this;
  }
  ~MappedPage();

  [[nodiscard]] Page* get() const { return page_; }
  explicit operator bool() const { return page_ != nullptr; }

 private:
  Page* page_ = nullptr;
};

// The process's side.
class PublishedPage {
 public:
  // Nothing: the system has no memory or no descriptor for it.
  static std::optional<PublishedPage> make(std::string_view program, std::size_t planes);

  void write(const HostValues& values);
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  PublishedPage(datapath::FileDescriptor descriptor, MappedPage<MetricsPage> page)
      : descriptor_(std::move(descriptor)), page_(std::move(page)) {}

  datapath::FileDescriptor descriptor_;
  MappedPage<MetricsPage> page_;
};

// The agent's side.
enum class PageRefusal : std::uint8_t {
  kNotShared,  // no memory that stays as long as it is mapped
  kSize,
  kVersion,  // of a library with other counters
};
inline constexpr std::array<std::string_view, 3> kPageRefusals{"not_shared", "size", "version"};

class WatchedPage {
 public:
  static Result<WatchedPage, PageRefusal> open(const datapath::FileDescriptor& descriptor);

  // As the process wrote them a moment ago; each number by itself.
  void read(HostValues& values) const;
  // At most kPlanesMax.
  [[nodiscard]] std::size_t planes() const;
  // Letters, digits and a few signs; whatever else the process calls itself is replaced.
  [[nodiscard]] const std::string& program() const { return program_; }

 private:
  explicit WatchedPage(MappedPage<const MetricsPage> page);

  MappedPage<const MetricsPage> page_;
  std::string program_;
};

}  // namespace openmrc::host
