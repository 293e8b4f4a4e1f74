// SPDX-License-Identifier: BSD-3-Clause
// What is linked before libc is asked first, as what is preloaded is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr const char* kDevice = "/sys/class/infiniband/openmrc0/device";
constexpr const char* kGidType = "/sys/class/infiniband/openmrc0/ports/1/gid_attrs/types/3";

std::string read_all(int fd) {
  std::array<char, 64> bytes{};
  const ssize_t length = read(fd, bytes.data(), bytes.size());
  close(fd);
  return {bytes.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

TEST(SysfsPreload, TheDeviceHasAPlace) {
  char* place = realpath(kDevice, nullptr);
  ASSERT_NE(place, nullptr);
  const std::string text(place);
  std::free(place);
  EXPECT_TRUE(text.starts_with("/sys/devices/")) << text;
  EXPECT_TRUE(text.ends_with("/0000:00:00.0")) << text;
  std::array<char, PATH_MAX> buffer{};
  EXPECT_EQ(realpath(kDevice, buffer.data()), buffer.data());
  EXPECT_EQ(text, buffer.data());
}

TEST(SysfsPreload, GidsAreOfRoceV2) {
  EXPECT_EQ(read_all(open(kGidType, O_RDONLY)), "RoCE v2\n");
  FILE* file = std::fopen(kGidType, "r");
  ASSERT_NE(file, nullptr);
  std::array<char, 64> line{};
  EXPECT_NE(std::fgets(line.data(), line.size(), file), nullptr);
  EXPECT_STREQ(line.data(), "RoCE v2\n");
  std::fclose(file);
}

constexpr const char* kCharacterDevice = "/dev/infiniband/uverbs9999";

TEST(SysfsPreload, TheDeviceFileIsACharacterDevice) {
  struct stat status{};
  errno = EXDEV;
  ASSERT_EQ(stat(kCharacterDevice, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(access(kCharacterDevice, R_OK | W_OK), 0);
  EXPECT_EQ(errno, EXDEV) << "what succeeds leaves it alone";
  EXPECT_EQ(access(kGidType, R_OK), 0);
  EXPECT_EQ(access(kGidType, W_OK), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(open(kGidType, O_RDWR), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(stat("/dev/infiniband/uverbs99990", &status), -1);
  EXPECT_EQ(errno, ENOENT);
  ASSERT_EQ(stat("/", &status), 0);
  EXPECT_TRUE(S_ISDIR(status.st_mode));
}

// There is no agent here: tests/agent/metrics_test.py reads them.
TEST(SysfsPreload, CountersAreFilesOfTheirPorts) {
  const std::string ports = "/sys/class/infiniband/openmrc0/ports/";
  struct stat status{};
  for (const char* path : {"1/counters/port_xmit_data", "2/counters/port_rcv_packets",
                           "1/hw_counters/local_ack_timeout_err"}) {
    EXPECT_EQ(access((ports + path).c_str(), R_OK), 0) << path;
    ASSERT_EQ(stat((ports + path).c_str(), &status), 0) << path;
    EXPECT_TRUE(S_ISREG(status.st_mode)) << path;
    EXPECT_EQ(open((ports + path).c_str(), O_RDONLY), -1) << path;
    EXPECT_EQ(errno, ENOENT) << path;
    EXPECT_EQ(std::fopen((ports + path).c_str(), "r"), nullptr) << path;
  }
  for (const char* path : {"3/counters/port_xmit_data", "0/counters/port_xmit_data",
                           "1/counters/port_xmit_datas", "1/counters/local_ack_timeout_err",
                           "2/hw_counters/local_ack_timeout_err", "1/counters/", "1/counters"}) {
    EXPECT_EQ(access((ports + path).c_str(), R_OK), -1) << path;
  }
}

TEST(SysfsPreload, TheRestIsTheKernels) {
  EXPECT_EQ(realpath("/sys/class/infiniband/openmrc1/device", nullptr), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(realpath("/sys/class/infiniband/openmrc0/devices", nullptr), nullptr);
  for (const char* path : {"/sys/class/infiniband/openmrc0/ports/1/gid_attrs/types/",
                           "/sys/class/infiniband/openmrc0/ports/1/gid_attrs/types/3x",
                           "/sys/class/infiniband/openmrc0/ports/x/gid_attrs/types/3",
                           "/sys/class/infiniband/openmrc1/ports/1/gid_attrs/types/3"}) {
    EXPECT_EQ(open(path, O_RDONLY), -1) << path;
    EXPECT_EQ(errno, ENOENT) << path;
  }
  char* root = realpath("/usr/..", nullptr);
  ASSERT_NE(root, nullptr);
  EXPECT_STREQ(root, "/");
  std::free(root);
}

TEST(SysfsPreload, FilesAreMadeAsBefore) {
  const std::string path = "/tmp/openmrc-sysfs-test-" + std::to_string(getpid());
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
  ASSERT_GE(fd, 0);
  close(fd);
  EXPECT_EQ(access(path.c_str(), R_OK | W_OK), 0);
  EXPECT_EQ(unlink(path.c_str()), 0);
}

}  // namespace
