// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/publisher.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "openmrc/host/clock.h"
#include "openmrc/host/send_descriptor.h"

namespace openmrc::host {
namespace {

using datapath::FileDescriptor;

// A connection that ends so soon was refused, and whoever refuses it will do so again.
constexpr Duration kRefusedWithin = milliseconds(100);
constexpr int kRefusedWaitMilliseconds = 10'000;

// Never waits: an agent that is busy is tried again.
FileDescriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return {};
  std::ranges::copy(path, std::begin(address.sun_path));
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open() ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return socket;
}

// Signals are for the application's threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Publisher::Publisher(Options options, Look look)
    : options_(std::move(options)),
      look_(std::move(look)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Publisher::~Publisher() {
  if (!home_.is_here()) {
    HomeProcess::leave(std::move(thread_));
    return;
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
  if (page_) publish();
}

void Publisher::run() {
  do publish();
  while (wait());
}

// The agent sends nothing: what comes from it is its end, or a refusal.
bool Publisher::wait() {
  std::array<pollfd, 2> asked{{{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                               {.fd = socket_.get(), .events = POLLIN, .revents = 0}}};
  const auto interval = static_cast<int>(options_.interval.raw() / 1'000'000);
  ::poll(asked.data(), asked.size(), interval);
  if (asked[0].revents != 0) return false;
  if (asked[1].revents == 0) return true;
  socket_ = FileDescriptor();
  page_.reset();
  const bool is_refusal = now() < connected_at_ + std::min(kRefusedWithin, options_.interval);
  return ::poll(asked.data(), 1, is_refusal ? kRefusedWaitMilliseconds : interval) == 0;
}

void Publisher::publish() {
  if (!page_) connect();
  was_tried_ = true;
  if (!page_) return;
  HostValues values;
  look_(values);
  for (std::size_t i = 0; i < HostValues::kFirstGauge; ++i) values.at(i) -= base_.at(i);
  page_->write(values);
}

void Publisher::connect() {
  socket_ = connect_to(options_.socket);
  if (!socket_.is_open()) return;
  connected_at_ = now();
  page_ = PublishedPage::make(options_.program, options_.planes);
  if (page_ && hand_over()) {
    base_ = {};
    if (was_tried_) look_(base_);
    return;
  }
  page_.reset();
  socket_ = FileDescriptor();
}

bool Publisher::hand_over() {
  return send_descriptor(socket_.get(), kPublishMessage, page_->descriptor());
}

}  // namespace openmrc::host
