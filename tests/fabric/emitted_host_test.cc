// SPDX-License-Identifier: BSD-3-Clause
// What `mrc fabric emit` writes for hosts, as the runtime reads it.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "openmrc/fabric/emit/emit.h"
#include "openmrc/host/config.h"

namespace openmrc {
namespace {

using fabric::EmitInput;
using fabric::EmitKind;
using fabric::Fabric;
using fabric::HostIndex;
using fabric::UsidPlan;

std::string config_of(EmitKind kind, const EmitInput& input, HostIndex host) {
  for (const fabric::EmittedFile& file : emit(kind, input, host)) {
    if (file.name == "openmrc.toml") return file.text;
  }
  return "";
}

TEST(EmittedHost, IsReadByTheRuntime) {
  const Fabric fabric =
      Fabric::make({.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256}).value();
  for (const std::string& name : fabric::emit_kind_names()) {
    const EmitKind kind = *fabric::emit_kind_named(name);
    const EmitInput input{UsidPlan(fabric), default_site(kind, fabric), {}};
    const HostIndex host(131'071);
    const auto config = host::parse_config(config_of(kind, input, host));
    ASSERT_TRUE(config) << name << ": " << to_string(config.error());
    EXPECT_EQ(config->name, "h131071");
    ASSERT_EQ(config->ports.size(), 8U);
    for (std::uint8_t plane = 0; plane < 8; ++plane) {
      EXPECT_EQ(config->ports[plane].address, input.plan.inner_address(host, Plane(plane)));
      EXPECT_EQ(config->ports[plane].interface, "p" + std::to_string(plane));
    }
  }
}

}  // namespace
}  // namespace openmrc
