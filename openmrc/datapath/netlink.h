// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

// What the kernel says over netlink, piece by piece. Copies, casts nothing, and stops at what is
// cut off.
namespace openmrc::datapath {

// The record at the front, if it is all there.
template <class Record>
  requires std::is_trivially_copyable_v<Record>
std::optional<Record> record_at(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

// The rest after `size` bytes and what is added to align the next.
inline std::span<const std::byte> after(std::span<const std::byte> bytes, std::size_t size) {
  static_assert(NLMSG_ALIGNTO == RTA_ALIGNTO);
  const std::size_t aligned = (size + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
  return bytes.subspan(std::min(aligned, bytes.size()));
}

// Calls take(header, payload) for each message.
template <class Take>
void for_each_message(std::span<const std::byte> bytes, Take take) {
  while (const auto header = record_at<nlmsghdr>(bytes)) {
    if (header->nlmsg_len < sizeof *header || header->nlmsg_len > bytes.size()) return;
    take(*header, after(bytes.first(header->nlmsg_len), sizeof *header));
    bytes = after(bytes, header->nlmsg_len);
  }
}

// Calls take(type, value) for each attribute.
template <class Take>
void for_each_attribute(std::span<const std::byte> bytes, Take take) {
  while (const auto attribute = record_at<rtattr>(bytes)) {
    if (attribute->rta_len < sizeof *attribute || attribute->rta_len > bytes.size()) return;
    const unsigned type = attribute->rta_type & static_cast<unsigned>(NLA_TYPE_MASK);
    take(type, after(bytes.first(attribute->rta_len), sizeof *attribute));
    bytes = after(bytes, attribute->rta_len);
  }
}

}  // namespace openmrc::datapath
