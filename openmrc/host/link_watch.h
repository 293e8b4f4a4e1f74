// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/error.h"

namespace openmrc::host {

struct LinkChange {
  std::size_t plane = 0;  // place of the interface in the list
  bool up = false;

  bool operator==(const LinkChange&) const = default;
};

// Watches the links of interfaces, as the kernel reports them (rtnetlink). A link is up if its
// interface is there, is set up, has a carrier, and takes the longest packet: one that loses large
// packets answers probes, which are small, and would be failed and readmitted without end.
class LinkWatch {
 public:
  // One interface for each plane; an empty name is not watched. All are taken for up until next()
  // says otherwise; those that are down now are among the first changes.
  static Result<LinkWatch, Error> open(std::span<const std::string> interfaces,
                                       std::uint32_t mtu_min = 0);

  // The next change, without waiting.
  [[nodiscard]] std::optional<LinkChange> next();
  // Of an interface; 0: not known.
  [[nodiscard]] std::uint32_t mtu(std::size_t plane) const { return links_[plane].mtu; }
  // Readable when next() has something to look at.
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  struct Link {
    std::string interface;
    int index = 0;      // of the interface that has the name; 0: none
    bool up = true;     // as was last said
    bool seen = false;  // in the list that is being read
    std::uint32_t mtu = 0;
  };

  // The list of all interfaces, which has what single messages do not.
  enum class List : std::uint8_t {
    kDue,           // something was missed: ask for it
    kComing,        // asked for
    kComingInPart,  // the same, but something was missed since
    kTaken,
  };

  LinkWatch(datapath::FileDescriptor socket, std::span<const std::string> interfaces,
            std::uint32_t mtu_min);

  [[nodiscard]] bool ask_for_all();
  [[nodiscard]] bool read_messages();
  void take_messages(std::span<const std::byte> bytes);
  void take_link(std::span<const std::byte> message, bool is_there);
  void set(std::size_t plane, bool up);
  void ask_again();
  void end_of_list(bool is_complete);

  datapath::FileDescriptor socket_;
  std::uint32_t mtu_min_;
  std::vector<Link> links_;
  std::deque<LinkChange> changes_;
  List list_ = List::kDue;
};

}  // namespace openmrc::host
