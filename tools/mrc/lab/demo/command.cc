// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/demo/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/lab/build.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/layout.h"
#include "openmrc/lab/port_counters.h"
#include "openmrc/lab/spec.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/lab/cli.h"
#include "tools/mrc/lab/demo/conclusion.h"
#include "tools/mrc/lab/demo/screen.h"
#include "tools/mrc/lab/demo/timeline.h"
#include "tools/mrc/lab/demo/traffic.h"

namespace openmrc::tools {
namespace {

using lab::Moment;
using lab::Spec;

constexpr std::uint32_t kPlanes = 4;
constexpr std::uint32_t kCutPlane = 2;
constexpr std::int64_t kLinkRate = 200'000'000;  // two cores carry it with ease
constexpr fabric::HostIndex kSender(0);
constexpr fabric::HostIndex kReceiver(1);
constexpr Duration kScene = seconds(3);
constexpr Duration kLastScene = milliseconds(2500);  // over before the traffic is
constexpr std::size_t kTextWidthMax = 95;
constexpr Duration kFrame = milliseconds(100);
constexpr Duration kStartMax = seconds(10);
constexpr Duration kEndMax = seconds(10);

Spec demo_spec(const std::string& name) {
  Spec spec{.name = name, .shape = {}, .bits_per_second = kLinkRate};
  spec.shape.planes = kPlanes;
  spec.shape.racks = 2;
  spec.shape.hosts_per_rack = 1;
  spec.shape.uplinks = 2;
  spec.shape.host_link_bits_per_second = kLinkRate;
  spec.shape.uplink_bits_per_second = kLinkRate;
  return spec;
}

// A lab that is removed with it.
class DemoLab {
 public:
  explicit DemoLab(Spec spec) : spec_(std::move(spec)) {}
  ~DemoLab() {
    if (built_) (void)lab::remove(spec_.name);
  }
  DemoLab(const DemoLab&) = delete;
  DemoLab& operator=(const DemoLab&) = delete;

  [[nodiscard]] Result<void, std::string> build() {
    const auto built = lab::build(spec_);
    if (!built) return failure(built.error());
    built_ = true;
    return {};
  }

 private:
  Spec spec_;
  bool built_ = false;
};

// What arrives by each port of the receiver.
class PortRates {
 public:
  explicit PortRates(const Spec& spec) : spec_(spec), bytes_(spec.shape.planes) {}

  // Gb/s since the last call.
  [[nodiscard]] Result<std::vector<double>, std::string> measure() {
    const auto bytes = lab::received_bytes(spec_, kReceiver);
    if (!bytes) return failure(bytes.error());
    const std::int64_t now = lab::monotonic_ns();
    std::vector<double> gbps;
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const auto arrived = static_cast<double>((*bytes)[i] - bytes_[i]);
      gbps.push_back(arrived * 8 / static_cast<double>(now - last_ns_));
    }
    bytes_ = *bytes;
    last_ns_ = now;
    return gbps;
  }

 private:
  const Spec& spec_;
  std::vector<std::uint64_t> bytes_;
  std::int64_t last_ns_ = 0;
};

// Plays the scenes. Each returns nothing if it was interrupted, or says what is wrong.
class Demo {
 public:
  explicit Demo(const Spec& spec)
      : spec_(spec),
        rates_(spec),
        traffic_(spec, kSender, kReceiver, static_cast<unsigned>(3 * kScene.raw() / 1'000'000'000)),
        frame_{.plane_gbps = std::vector<double>(kPlanes),
               .plane_is_cut = std::vector<bool>(kPlanes),
               .link_gbps = static_cast<double>(kLinkRate) / 1e9,
               .happening = {}} {}

  [[nodiscard]] Result<void, std::string> play() {
    if (auto result = wait_for_traffic(); !result) return result;
    if (auto result = watch("h0 writes to h1 over all planes", kScene); !result) return result;
    if (auto result = cut(); !result) return result;
    if (auto result = watch("all cables of plane 2 are pulled", kScene); !result) return result;
    if (auto result = heal(); !result) return result;
    if (auto result = watch("they are back", kLastScene); !result) return result;
    return traffic_.finish(kEndMax);
  }

  [[nodiscard]] Result<std::string, std::string> conclusion() const;

 private:
  [[nodiscard]] Result<void, std::string> wait_for_traffic();
  [[nodiscard]] Result<void, std::string> watch(const std::string& happening, Duration length);
  [[nodiscard]] Result<void, std::string> cut();
  [[nodiscard]] Result<void, std::string> heal();

  const Spec& spec_;
  PortRates rates_;
  lab::DemoTraffic traffic_;
  lab::DemoScreen screen_;
  lab::DemoFrame frame_;
  std::int64_t begin_ns_ = 0;
  Moment cut_{};
  Moment healed_{};
};

Result<void, std::string> Demo::wait_for_traffic() {
  const std::int64_t end = lab::monotonic_ns() + kStartMax.raw();
  if (const auto first = rates_.measure(); !first) return failure(first.error());
  while (!host::interrupted()) {
    lab::sleep_until(lab::monotonic_ns() + kFrame.raw());
    const auto gbps = rates_.measure();
    if (!gbps) return failure(gbps.error());
    if (std::ranges::max(*gbps) > frame_.link_gbps / 10) break;
    if (!traffic_.running()) return traffic_.finish(kEndMax);
    if (lab::monotonic_ns() > end) return failure(std::string("no traffic arrives"));
  }
  begin_ns_ = lab::monotonic_ns();
  return {};
}

Result<void, std::string> Demo::watch(const std::string& happening, Duration length) {
  frame_.happening = happening;
  const std::int64_t end = lab::monotonic_ns() + length.raw();
  while (lab::monotonic_ns() < end && !host::interrupted() && traffic_.running()) {
    lab::sleep_until(lab::monotonic_ns() + kFrame.raw());
    auto gbps = rates_.measure();
    if (!gbps) return failure(gbps.error());
    frame_.plane_gbps = *std::move(gbps);
    frame_.seconds = static_cast<double>(lab::monotonic_ns() - begin_ns_) / 1e9;
    screen_.show(frame_);
  }
  return {};
}

Result<void, std::string> Demo::cut() {
  const auto links = lab::links_of(spec_.fabric(), lab::plane_at(kCutPlane));
  const auto moment = inflict(spec_, links, {});
  if (!moment) return failure(moment.error());
  cut_ = *moment;
  frame_.plane_is_cut[kCutPlane] = true;
  return {};
}

Result<void, std::string> Demo::heal() {
  const auto moment = heal_all(spec_);
  if (!moment) return failure(moment.error());
  healed_ = *moment;
  frame_.plane_is_cut[kCutPlane] = false;
  return {};
}

Result<std::string, std::string> Demo::conclusion() const {
  const auto timeline = lab::ArrivalTimeline::read(traffic_.timeline_file());
  if (!timeline) return failure(timeline.error());
  constexpr std::int64_t kMs = 1'000'000;
  constexpr double kAlmost = 0.95;
  const double before = timeline->bits_per_second(cut_.began_ns - 1000 * kMs, cut_.began_ns);
  const double during = timeline->bits_per_second(healed_.began_ns - 1000 * kMs, healed_.began_ns);
  const double left = before * (kPlanes - 1) / kPlanes;
  return lab::conclusion_of(
      {.planes = kPlanes,
       .cut_plane = kCutPlane,
       .link_gbps = frame_.link_gbps,
       .before_gbps = before / 1e9,
       .during_gbps = during / 1e9,
       .left_after = timeline->reached_after(cut_.began_ns, left * kAlmost),
       .back_after = timeline->reached_after(healed_.done_ns, before * kAlmost),
       .verified_messages = traffic_.verified()});
}

// Text for people, no wider than the terminal.
void say(const std::string& text) {
  std::cout << lab::wrapped(text, std::min(lab::terminal_width(), kTextWidthMax)) << std::flush;
}

int play(const Spec& spec) {
  Demo demo(spec);
  const auto played = demo.play();
  if (host::interrupted()) return host::interrupt_exit_code();
  if (!played) return complain("lab demo", played.error());
  const auto conclusion = demo.conclusion();
  if (!conclusion) return complain("lab demo", conclusion.error());
  std::cout << "\n";
  say(*conclusion);
  std::cout << "\n";
  say("Try it by hand: sudo mrc lab up. Documentation: man mrc-lab.");
  return 0;
}

int demo(const std::string& name) {
  host::catch_interrupts();
  const Spec spec = demo_spec(name);
  if (auto result = check(spec); !result) return complain("lab demo", result.error());
  const auto there = lab::labs_there();
  if (std::ranges::find(there, name) != there.end()) {
    return complain("lab demo", fmt::format("there is a lab '{}' already", name),
                    fmt::format("mrc lab down {}, or mrc lab demo OTHER_NAME", name));
  }
  DemoLab built(spec);
  say(fmt::format("Building a network on this machine: {}", describe(spec)));
  std::cout << "\n" << std::flush;
  if (auto result = built.build(); !result) {
    return host::interrupted() ? host::interrupt_exit_code() : complain("lab demo", result.error());
  }
  return play(spec);
}

}  // namespace

void add_demo_command(CLI::App& parent, int& exit_code) {
  const auto name = std::make_shared<std::string>("demo");
  CLI::App* command = parent.add_subcommand(
      "demo", "See it in 10 s: build a lab, send, cut a plane, heal it, remove the lab");
  command->add_option("name", *name, "Lab name; default 'demo'")->type_name("NAME");
  command->callback([name, &exit_code] { lab::as_root(exit_code, [&] { return demo(*name); }); });
}

}  // namespace openmrc::tools
