// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/datapath/datapath.h"

namespace openmrc::datapath {

// Passes everything on to another data path; a decorator overrides what it is there for.
class Decorator : public Datapath {
 public:
  explicit Decorator(std::unique_ptr<Datapath> inner) : inner_(std::move(inner)) {}

  void send(std::span<const Outgoing> burst) override { inner_->send(burst); }
  [[nodiscard]] PlaneBits blocked() const override { return inner_->blocked(); }
  [[nodiscard]] std::size_t receive(Instant now, std::span<Incoming> into) override {
    return inner_->receive(now, into);
  }
  [[nodiscard]] std::span<const int> descriptors() const override { return inner_->descriptors(); }
  [[nodiscard]] Slot slot() const override { return inner_->slot(); }
  [[nodiscard]] const Counters& counters() const override { return inner_->counters(); }
  [[nodiscard]] std::span<const Error> notices() const override { return inner_->notices(); }

 protected:
  // A decorator counts where the data path itself does. Its counters are only ever lent as const.
  Counters& shared_counters() { return const_cast<Counters&>(inner_->counters()); }

 private:
  std::unique_ptr<Datapath> inner_;
};

}  // namespace openmrc::datapath
