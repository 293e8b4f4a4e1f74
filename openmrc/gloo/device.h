// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gloo/transport/device.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/host/host.h"

namespace openmrc::gloo {

class Context;

// A transport of gloo: what it makes sends over MRC. One for a process is enough.
class Device final : public ::gloo::transport::Device, public std::enable_shared_from_this<Device> {
 public:
  // Throws ::gloo::IoException if the host's configuration is wrong or the network refuses. No
  // file: $OPENMRC_CONFIG, or the one of the machine.
  static std::shared_ptr<Device> open(const std::optional<std::filesystem::path>& file);
  ~Device() override;

  [[nodiscard]] std::string str() const override;
  [[nodiscard]] const std::string& getPCIBusID() const override { return bus_; }
  std::shared_ptr<::gloo::transport::Context> createContext(int rank, int size) override;

  [[nodiscard]] host::Host& host() { return *host_; }
  // All that was sent has arrived, or cannot. Its contexts cannot be used any more.
  void close();

 private:
  explicit Device(std::unique_ptr<host::Host> host) : host_(std::move(host)) {}

  std::string bus_;  // it is on none
  std::unique_ptr<host::Host> host_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Context>> contexts_;
};

}  // namespace openmrc::gloo
