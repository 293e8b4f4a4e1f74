// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/metrics_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace openmrc::host {
namespace {

using datapath::FileDescriptor;

FileDescriptor copy_of(int descriptor) { return FileDescriptor(::dup(descriptor)); }

FileDescriptor memory_of(std::size_t size, unsigned flags, int seals) {
  FileDescriptor memory(::memfd_create("test", flags));
  EXPECT_EQ(::ftruncate(memory.get(), static_cast<off_t>(size)), 0);
  EXPECT_EQ(::fcntl(memory.get(), F_ADD_SEALS, seals), 0);
  return memory;
}

PageRefusal refusal_of(const FileDescriptor& memory) {
  const auto opened = WatchedPage::open(memory);
  EXPECT_FALSE(opened.has_value());
  return opened.has_value() ? PageRefusal{} : opened.error();
}

TEST(MetricsPage, ShowsWhatWasWrittenWhileAndAfterTheWriterLives) {
  auto published = PublishedPage::make("mrc", 4);
  ASSERT_TRUE(published);
  HostValues values;
  values.at(HostValues::place(core::Count::kTimeouts)) = 7;
  values.at(HostValues::place(Gauge::kPeers)) = 3;
  published->write(values);

  const auto watched = WatchedPage::open(copy_of(published->descriptor()));
  ASSERT_TRUE(watched.has_value());
  EXPECT_EQ(watched->program(), "mrc");
  EXPECT_EQ(watched->planes(), 4U);
  HostValues seen;
  watched->read(seen);
  EXPECT_EQ(seen.at(HostValues::place(core::Count::kTimeouts)), 7U);

  values.at(HostValues::place(core::Count::kTimeouts)) = 8;
  published->write(values);
  published.reset();
  watched->read(seen);
  EXPECT_EQ(seen.at(HostValues::place(core::Count::kTimeouts)), 8U);
  EXPECT_EQ(seen.at(HostValues::place(Gauge::kPeers)), 3U);
}

TEST(MetricsPage, CannotBeCutOffByItsWriter) {
  const auto published = PublishedPage::make("mrc", 1);
  ASSERT_TRUE(published);
  EXPECT_NE(::ftruncate(published->descriptor(), 0), 0);
}

TEST(MetricsPage, IsRefusedIfItCouldBeCutOff) {
  const FileDescriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(refusal_of(file), PageRefusal::kNotShared);
  const FileDescriptor unsealed = memory_of(sizeof(MetricsPage), MFD_ALLOW_SEALING, 0);
  EXPECT_EQ(refusal_of(unsealed), PageRefusal::kNotShared);
  EXPECT_EQ(refusal_of(FileDescriptor()), PageRefusal::kNotShared);
}

TEST(MetricsPage, IsRefusedWithAnotherSizeOrOtherCounters) {
  EXPECT_EQ(refusal_of(memory_of(0, MFD_ALLOW_SEALING, F_SEAL_SHRINK)), PageRefusal::kSize);
  EXPECT_EQ(refusal_of(memory_of(sizeof(MetricsPage) + 1, MFD_ALLOW_SEALING, F_SEAL_SHRINK)),
            PageRefusal::kSize);
  EXPECT_EQ(refusal_of(memory_of(sizeof(MetricsPage), MFD_ALLOW_SEALING, F_SEAL_SHRINK)),
            PageRefusal::kVersion);
}

// Whatever a process writes there.
TEST(MetricsPage, HasAHarmlessNameAndNumberOfPlanes) {
  FileDescriptor memory = memory_of(sizeof(MetricsPage), MFD_ALLOW_SEALING, F_SEAL_SHRINK);
  void* const address =
      ::mmap(nullptr, sizeof(MetricsPage), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  ASSERT_NE(address, MAP_FAILED);
  auto* const page = new (address) MetricsPage;
  page->layout = values_layout();
  page->planes = ~std::uint64_t{0};
  page->program.fill('"');
  page->program[1] = '\n';
  page->program[2] = '\xff';
  page->program[3] = 'x';
  const auto watched = WatchedPage::open(memory);
  ASSERT_TRUE(watched.has_value());
  EXPECT_EQ(watched->program(), "___x" + std::string(MetricsPage::kProgramMax - 4, '_'));
  EXPECT_EQ(watched->planes(), core::kPlanesMax);
  ::munmap(address, sizeof(MetricsPage));
}

TEST(HostValues, HaveAPlaceForEachNumber) {
  core::Counters core;
  core.add(core::Count::kDropDatagramNoPort, 5);
  core.add_trimmed(Plane(30));
  datapath::Counters datapath;
  datapath.add(datapath::Count::kFaultsCorrupted, 6);
  datapath.add(datapath::PlaneCount::kFailedPackets, Plane(30), 7);
  HostValues values;
  values.add(core);
  values.add(datapath);
  values.add(core);
  EXPECT_EQ(values.at(HostValues::place(core::Count::kDropDatagramNoPort)), 10U);
  EXPECT_EQ(values.at(HostValues::place(PlaneValue::kTrimmed, 30)), 2U);
  EXPECT_EQ(values.at(HostValues::place(datapath::Count::kFaultsCorrupted)), 6U);
  EXPECT_EQ(values.at(HostValues::place(PlaneValue::kFailedPackets, 30)), 7U);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < HostValues::kSize; ++i) sum += values.at(i);
  EXPECT_EQ(sum, 25U);
}

}  // namespace
}  // namespace openmrc::host
