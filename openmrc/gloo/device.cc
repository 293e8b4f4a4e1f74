// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/gloo/device.h"

#include <fmt/core.h>
#include <gloo/common/error.h>

#include <stdexcept>
#include <utility>

#include "openmrc/gloo/address.h"
#include "openmrc/gloo/context.h"
#include "openmrc/host/config.h"

namespace openmrc::gloo {

std::shared_ptr<Device> Device::open(const std::optional<std::filesystem::path>& file) {
  auto config = host::load_config(file);
  if (!config) throw ::gloo::IoException("openmrc: " + text::to_string(config.error()));
  if (config->ports.size() > Address::kPlanesMax) {
    throw ::gloo::IoException(fmt::format("openmrc: {} planes; gloo can address {} at the most",
                                          config->ports.size(), Address::kPlanesMax));
  }
  auto opened = host::Host::open(std::move(*config));
  if (!opened) throw ::gloo::IoException("openmrc: " + to_string(opened.error()));
  return std::shared_ptr<Device>(new Device(std::move(*opened)));
}

Device::~Device() = default;

std::string Device::str() const {
  return fmt::format("openmrc, host {}, {} planes", host_->config().name,
                     host_->config().ports.size());
}

std::shared_ptr<::gloo::transport::Context> Device::createContext(int rank, int size) {
  auto made = std::make_shared<Context>(shared_from_this(), rank, size);
  const std::lock_guard lock(mutex_);
  std::erase_if(contexts_, [](const auto& one) { return one.expired(); });
  contexts_.push_back(made);
  return made;
}

void Device::close() {
  std::vector<std::weak_ptr<Context>> contexts;
  {
    const std::lock_guard lock(mutex_);
    contexts = contexts_;
  }
  for (const auto& one : contexts) {
    if (const auto context = one.lock()) context->group().close();
  }
}

}  // namespace openmrc::gloo
