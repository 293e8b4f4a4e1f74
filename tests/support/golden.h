// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace openmrc::test {

// Compares with a file in tests/golden, line by line, so that a failure names the first that
// differs. With OPENMRC_UPDATE_GOLDEN in the environment the file is written first.
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(OPENMRC_GOLDEN_DIR) / name;
  if (std::getenv("OPENMRC_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::istringstream is(text);
  std::ifstream was(path);
  ASSERT_TRUE(was.is_open()) << path << " is missing; OPENMRC_UPDATE_GOLDEN=1 writes it";
  std::string now;
  std::string then;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(is, now));
    ASSERT_EQ(static_cast<bool>(std::getline(was, then)), more) << path << ":" << line;
    if (!more) return;
    ASSERT_EQ(now, then) << path << ":" << line;
  }
}

}  // namespace openmrc::test
