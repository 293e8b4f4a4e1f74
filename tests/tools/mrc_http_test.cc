// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/http.h"

#include <gtest/gtest.h>

namespace openmrc::tools {
namespace {

TEST(Url, IsAHostWithOrWithoutTheRest) {
  const auto is = [](const char* url, const char* host, const char* port, const char* path) {
    const auto address = parse_url(url, "/metrics");
    ASSERT_TRUE(address) << url;
    EXPECT_EQ(address->host, host) << url;
    EXPECT_EQ(address->port, port) << url;
    EXPECT_EQ(address->path, path) << url;
  };
  is("h3", "h3", "9917", "/metrics");
  is("h3:1", "h3", "1", "/metrics");
  is("http://h3:1/", "h3", "1", "/metrics");
  is("http://h3/x/y", "h3", "9917", "/x/y");
  is("[::1]", "::1", "9917", "/metrics");
  is("http://[fe80::1]:80/m", "fe80::1", "80", "/m");
  for (const char* url : {"", ":", "h3:", "h3:x", "[::1", "[]:1", "[::1]x", "h 3", "h3/a b",
                          "http://", "h3:1\r\nX: y"}) {
    EXPECT_FALSE(parse_url(url, "/metrics")) << url;
  }
}

TEST(Http, TakesTheBodyOfAGoodAnswer) {
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nA: b\r\n\r\na 1\n"), "a 1\n");
  EXPECT_EQ(body_of("HTTP/1.1 404 Not Found\r\n\r\n200").error(), "HTTP status 404");
  for (const char* answer : {"", "x", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "\r\n\r\n"}) {
    EXPECT_FALSE(body_of(answer)) << answer;
  }
}

}  // namespace
}  // namespace openmrc::tools
