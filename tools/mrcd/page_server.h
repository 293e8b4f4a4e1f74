// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/host/error.h"

namespace openmrc::tools {

// One page over HTTP, for reading only: GET of one path, JSON, no files, no state.
class PageServer {
 public:
  using Page = std::function<std::string()>;  // called by a thread of the server
  struct Served {
    std::string path{};
    Page page{};
  };

  // `address` is ADDRESS:PORT, `path` begins with a slash.
  static Result<std::unique_ptr<PageServer>, host::Error> open(const std::string& address,
                                                               const std::string& path, Page page);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

 private:
  explicit PageServer(Served served) : served_(std::move(served)) {}

  Served served_;
  void* daemon_ = nullptr;
};

}  // namespace openmrc::tools
