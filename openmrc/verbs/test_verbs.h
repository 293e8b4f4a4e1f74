// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

// For tests of the soft verbs device: one on the loopback interface.
namespace openmrc::libmrc::test {

// The device of a process is made once; this comes first.
class VerbsEnvironment {
 public:
  VerbsEnvironment() : file_("/tmp/openmrc-verbs-test-" + std::to_string(getpid()) + ".toml") {
    std::ofstream(file_) << "name = \"here\"\n"
                            "[transport]\n"
                            "udp_port = 34793\n"
                            "mtu = 2048\n"
                            "evs = 4\n"
                            "rate = \"400gbit\"\n"
                            "[[port]]\n"
                            "interface = \"lo\"\n"
                            "address = \"::1\"\n";
    setenv("OPENMRC_CONFIG", file_.c_str(), 1);
  }
  ~VerbsEnvironment() { std::remove(file_.c_str()); }
  VerbsEnvironment(const VerbsEnvironment&) = delete;
  VerbsEnvironment& operator=(const VerbsEnvironment&) = delete;

 private:
  std::string file_;
};

// Opens a device by its place in the list.
inline ibv_context* open_device(int place) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* context = place < count ? ibv_open_device(list[place]) : nullptr;
  ibv_free_device_list(list);
  return context;
}

class VerbsTest : public testing::Test {
 protected:
  VerbsTest() : context(open_device(0)) {}
  ~VerbsTest() override { EXPECT_EQ(ibv_close_device(context), 0); }

  ibv_context* context;
};

}  // namespace openmrc::libmrc::test
