// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/prober/prober.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <utility>

#include "openmrc/fabric/usid_plan.h"
#include "openmrc/host/clock.h"
#include "openmrc/host/random.h"

namespace openmrc::prober {
namespace {

using mapper::Mapper;

constexpr Duration kReportInterval = milliseconds(100);
// Datagrams of one plane before the others have their turn.
constexpr int kBurst = 256;
// A corrupted header may be counted as a drop, too; a socket without room drops more.
constexpr std::uint32_t kDropsTolerated = 8;

// They are for the thread that waits for them.
void block_signals() {
  sigset_t all{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

mapper::MapperSettings settings_of(const host::MapperConfig& config) {
  return {.rounds_per_second = config.rounds_per_second,
          .timeout = config.timeout,
          .least_loss = config.least_loss,
          .hold = config.hold};
}

}  // namespace

Result<std::unique_ptr<Prober>, host::Error> Prober::start(const host::Config& config) {
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  const mapper::ProbePlan plan(fabric::UsidPlan(*fabric, config.fabric->block),
                               config.fabric->host);
  std::vector<ProbeSockets> planes;
  for (const datapath::Port& port : config.ports) {
    auto sockets = ProbeSockets::open(config.mode, port, config.mapper.udp_port,
                                      wire::Dscp(config.wire.dscp.control));
    if (!sockets) return failure(std::move(sockets.error()));
    planes.push_back(*std::move(sockets));
  }
  std::unique_ptr<Prober> prober(new Prober(config, plan, std::move(planes)));
  prober->thread_ =
      std::jthread([it = prober.get()](const std::stop_token& stop) { it->run(stop); });
  return prober;
}

Prober::Prober(const host::Config& config, const mapper::ProbePlan& plan,
               std::vector<ProbeSockets> planes)
    : name_(config.name),
      mapper_(plan, settings_of(config.mapper), host::random_key()),
      planes_(std::move(planes)),
      dropped_(planes_.size()) {
  publish(host::now());
}

std::shared_ptr<const mapper::MapReport> Prober::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

void Prober::run(const std::stop_token& stop) {
  block_signals();
  while (!stop.stop_requested()) {
    take_replies();
    look_for_drops();
    const Instant now = host::now();
    mapper_.tick(now);
    send_round(now);
    if (now >= next_report_) publish(now);
    wait(mapper_.next_tick());
  }
}

void Prober::wait(Instant until) {
  const std::int64_t left = std::max<std::int64_t>((until - host::now()).raw(), 0);
  const timespec span{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
  std::vector<pollfd> descriptors;
  descriptors.reserve(planes_.size());
  for (const ProbeSockets& plane : planes_) descriptors.push_back({plane.descriptor(), POLLIN, 0});
  ::ppoll(descriptors.data(), descriptors.size(), &span, nullptr);
}

void Prober::take_replies() {
  std::array<std::byte, mapper::kProbeSize + 1> buffer{};  // one more: what is longer is none
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    for (int taken = 0; taken < kBurst; ++taken) {
      const auto bytes = planes_[i].receive(buffer);
      if (!bytes) break;
      mapper_.receive(Plane(static_cast<std::uint8_t>(i)), *bytes, host::now());
    }
  }
}

void Prober::look_for_drops() {
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    const std::uint32_t before = std::exchange(dropped_[i], planes_[i].dropped());
    if (dropped_[i] - before > kDropsTolerated) mapper_.lost_here();
  }
}

void Prober::send_round(Instant now) {
  for (const Mapper::Outgoing& probe : mapper_.round(now)) {
    const Sent sent = planes_[probe.path.plane.raw()].send(probe.to, probe.bytes);
    if (sent == Sent::kNo) {
      ++send_failures_;
    } else {
      mapper_.sent(probe.path);
    }
  }
}

void Prober::publish(Instant now) {
  auto report = std::make_shared<const mapper::MapReport>(
      mapper::report_of(mapper_, name_, send_failures_, now));
  next_report_ = now + kReportInterval;
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
}

}  // namespace openmrc::prober
