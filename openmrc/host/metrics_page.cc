// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/metrics_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace openmrc::host {
namespace {

using datapath::FileDescriptor;

// What is mapped must stay: whoever reads where a file was cut off gets SIGBUS.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

void* map(const FileDescriptor& descriptor, int protection) {
  void* const address =
      ::mmap(nullptr, sizeof(MetricsPage), protection, MAP_SHARED, descriptor.get(), 0);
  return address == MAP_FAILED ? nullptr : address;
}

bool is_harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == ':' || c == '+';
}

std::string name_from(const std::array<char, MetricsPage::kProgramMax>& program) {
  std::string name;
  for (const char c : program) {
    if (c == '\0') break;
    name += is_harmless(c) ? c : '_';
  }
  return name;
}

}  // namespace

template <class Page>
MappedPage<Page>::~MappedPage() {
  if (page_ != nullptr) ::munmap(const_cast<MetricsPage*>(page_), sizeof(MetricsPage));
}
template class MappedPage<MetricsPage>;
template class MappedPage<const MetricsPage>;

std::optional<PublishedPage> PublishedPage::make(std::string_view program, std::size_t planes) {
  FileDescriptor descriptor(::memfd_create("openmrc-metrics", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor.is_open() || ::ftruncate(descriptor.get(), sizeof(MetricsPage)) != 0 ||
      ::fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) {
    return std::nullopt;
  }
  void* const memory = map(descriptor, PROT_READ | PROT_WRITE);
  if (memory == nullptr) return std::nullopt;
  auto* const page = new (memory) MetricsPage;
  page->layout = values_layout();
  page->planes = planes;
  program = program.substr(0, MetricsPage::kProgramMax);
  std::ranges::copy(program, page->program.begin());
  return PublishedPage(std::move(descriptor), MappedPage<MetricsPage>(page));
}

void PublishedPage::write(const HostValues& values) {
  for (std::size_t i = 0; i < HostValues::kSize; ++i) {
    page_.get()->values[i].store(values.at(i), std::memory_order_relaxed);
  }
}

Result<WatchedPage, PageRefusal> WatchedPage::open(const FileDescriptor& descriptor) {
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return failure(PageRefusal::kNotShared);
  struct stat found{};
  if (::fstat(descriptor.get(), &found) != 0 ||
      found.st_size != static_cast<off_t>(sizeof(MetricsPage))) {
    return failure(PageRefusal::kSize);
  }
  const void* const memory = map(descriptor, PROT_READ);
  if (memory == nullptr) return failure(PageRefusal::kNotShared);
  MappedPage<const MetricsPage> page(static_cast<const MetricsPage*>(memory));
  if (page.get()->magic != MetricsPage::kMagic || page.get()->layout != values_layout()) {
    return failure(PageRefusal::kVersion);
  }
  return WatchedPage(std::move(page));
}

WatchedPage::WatchedPage(MappedPage<const MetricsPage> page)
    : page_(std::move(page)), program_(name_from(page_.get()->program)) {}

void WatchedPage::read(HostValues& values) const {
  for (std::size_t i = 0; i < HostValues::kSize; ++i) {
    values.at(i) = page_.get()->values[i].load(std::memory_order_relaxed);
  }
}

std::size_t WatchedPage::planes() const {
  const std::uint64_t planes = page_.get()->planes.load(std::memory_order_relaxed);
  return static_cast<std::size_t>(std::min<std::uint64_t>(planes, core::kPlanesMax));
}

}  // namespace openmrc::host
