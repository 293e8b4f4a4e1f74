// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/top/source.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "openmrc/agent/agent_client.h"
#include "tools/mrc/http.h"

namespace openmrc::tools::top {
namespace {

using host::Error;

constexpr Duration kTimeout = seconds(5);
// Several times a host's with 4,096 processes.
constexpr std::size_t kAnswerMax = std::size_t{64} * 1024 * 1024;

class AgentSource final : public Source {
 public:
  explicit AgentSource(const std::string& socket) : client_({.path = socket}) {}

  Result<std::string, Error> fetch() override {
    const libmrc::Reply reply = client_.call(libmrc::QueryMetrics{});
    if (!reply.outcome.ok()) {
      return failure(Error{.what = reply.outcome.why,
                           .remedy = "start mrcd, or name a host: mrc top HOST:PORT"});
    }
    const auto* const metrics = std::get_if<libmrc::Metrics>(&reply.body);
    if (metrics == nullptr) return failure(Error{.what = "mrcd is of another release"});
    std::string text;
    for (const std::string& line : metrics->lines) text += line + '\n';
    return text;
  }

 private:
  libmrc::AgentClient client_;
};

class HttpSource final : public Source {
 public:
  explicit HttpSource(Url url) : url_(std::move(url)) {}

  Result<std::string, Error> fetch() override {
    auto body = tools::fetch(url_, {.timeout = kTimeout, .bytes_max = kAnswerMax});
    if (body) return *std::move(body);
    return failure(
        Error{.what = fmt::format("{}:{}: {}", url_.host, url_.port, body.error()),
              .remedy = "mrcd serves metrics with --listen, or [agent] listen in openmrc.toml"});
  }

 private:
  Url url_;
};

}  // namespace

std::unique_ptr<Source> agent_source(const std::string& socket) {
  return std::make_unique<AgentSource>(socket);
}

std::unique_ptr<Source> http_source(const std::string& url) {
  auto parsed = parse_url(url, "/metrics");
  return parsed ? std::make_unique<HttpSource>(*std::move(parsed)) : nullptr;
}

}  // namespace openmrc::tools::top
