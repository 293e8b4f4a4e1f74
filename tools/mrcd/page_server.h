// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/error.h"

namespace openmrc::tools {

struct Page {
  std::string path{};                   // begins with a slash
  std::string type{};                   // of HTTP
  std::function<std::string()> text{};  // called by a thread of the server for each request
};

// Pages over HTTP, for reading only: GET of few paths, no files, no state.
class PageServer {
 public:
  // `address` is ADDRESS:PORT, such as "127.0.0.1:9917" or "[::1]:9917".
  static Result<std::unique_ptr<PageServer>, host::Error> open(const std::string& address,
                                                               std::vector<Page> pages);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

 private:
  explicit PageServer(std::vector<Page> pages) : pages_(std::move(pages)) {}

  std::vector<Page> pages_;
  void* daemon_ = nullptr;
};

}  // namespace openmrc::tools
