// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/retransmit_copies.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <variant>

#include "openmrc/core/context/limits.h"

namespace openmrc::host {
namespace {

// As memcpy, and false if the memory is not mapped.
bool copy_if_mapped(ConstBytes from, std::byte* to) {
  const iovec local{.iov_base = to, .iov_len = from.size()};
  // The call takes no const; it only reads.
  const iovec remote{.iov_base = const_cast<std::byte*>(from.data()), .iov_len = from.size()};
  const ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  if (copied == static_cast<ssize_t>(from.size())) return true;
  // It ends at the first page that cannot be read.
  if (copied >= 0 || errno == EFAULT) return false;
  std::memcpy(to, from.data(), from.size());  // forbidden here, as in some containers
  return true;
}

}  // namespace

bool RetransmitCopies::take(core::Transmit& transmit, std::size_t slot) {
  auto* write = std::get_if<wire::RdmaWrite>(&transmit.packet.transport.body);
  if (write == nullptr || !write->retransmission || !write->payload.has_bytes()) return true;
  const ConstBytes payload = write->payload.bytes();
  if (bytes_.empty()) bytes_.resize(slots_ * core::kMtuMax);
  std::byte* const copy = bytes_.data() + slot * core::kMtuMax;
  if (!copy_if_mapped(payload, copy)) return false;
  write->payload = wire::Payload::of_bytes({copy, payload.size()});
  return true;
}

}  // namespace openmrc::host
