// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <ostream>
#include <string>

#include "tools/mrc/decode/packet_printer.h"

namespace openmrc::tools {
namespace {

using wire::DissectedField;
using wire::DissectedLayer;

// Text out of a capture may hold anything; a terminal shall see only what can be printed.
std::string printable(std::string_view text) {
  std::string clean(text);
  std::ranges::replace_if(clean, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return clean;
}

// Times count from the first packet, as tcpdump and Wireshark users expect.
class RelativeTime {
 public:
  std::string of(Instant time) {
    if (!first_) first_ = time;
    const std::int64_t ns = (time - *first_).raw();
    return fmt::format("{}.{:09}", ns / 1'000'000'000, std::abs(ns % 1'000'000'000));
  }

 private:
  std::optional<Instant> first_;
};

std::string interface_text(const wire::CapturedFrame& frame) {
  return frame.interface_name.empty() ? fmt::format("if{}", frame.interface)
                                      : printable(frame.interface_name);
}

class LinePrinter final : public PacketPrinter {
 public:
  explicit LinePrinter(std::ostream& out) : out_(out) {}

  void print(const PrintedPacket& packet) override {
    ++seen_;
    const auto& verdict = packet.dissection.verdict;
    if (!verdict) ++rejected_;
    fmt::print(out_, "{:>4}  {}  {:<8}  {}\n", packet.number, time_.of(packet.frame.time),
               interface_text(packet.frame),
               verdict ? packet_text(*verdict) : reject_text(verdict.error()));
    if (!packet.frame.comment.empty()) {
      fmt::print(out_, "      # {}\n", printable(packet.frame.comment));
    }
  }

  void finish() override {
    fmt::print(out_, "{} packet{}", seen_, seen_ == 1 ? "" : "s");
    if (rejected_ > 0) fmt::print(out_, ", {} of them not decoded", rejected_);
    fmt::print(out_, "\n");
  }

 private:
  static std::string packet_text(const wire::Packet& packet) {
    const std::string ends = source_of(packet) + " > " + destination_of(packet);
    return fmt::format("{:<23}  ev 0x{:08x} {}  {}", ends, ev_of(packet).raw(),
                       packet.ecn == wire::Ecn::kCongested ? "CE" : "  ", summarize(packet));
  }
  static std::string reject_text(wire::Reject reason) {
    return fmt::format("not decoded ({}): {}", describe(reason).counter, describe(reason).text);
  }

  std::ostream& out_;
  RelativeTime time_;
  std::uint64_t seen_ = 0;
  std::uint64_t rejected_ = 0;
};

std::string value_text(const DissectedField& field) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, field.value);
}

class DetailPrinter final : public PacketPrinter {
 public:
  explicit DetailPrinter(std::ostream& out) : out_(out) {}

  void print(const PrintedPacket& packet) override {
    const auto& frame = packet.frame;
    fmt::print(out_, "Packet {}, {} bytes", packet.number, frame.bytes.size());
    if (frame.original_size > frame.bytes.size()) {
      fmt::print(out_, " of {} on the wire", frame.original_size);
    }
    fmt::print(out_, ", {} s, {}\n", time_.of(frame.time), interface_text(frame));
    if (!frame.comment.empty()) fmt::print(out_, "  # {}\n", printable(frame.comment));
    const auto& verdict = packet.dissection.verdict;
    if (verdict) {
      fmt::print(out_, "  {}\n", summarize(*verdict));
    } else {
      fmt::print(out_, "  not decoded ({}): {}\n", describe(verdict.error()).counter,
                 describe(verdict.error()).text);
    }
    for (const DissectedLayer& layer : packet.dissection.layers) print_layer(layer);
    fmt::print(out_, "\n");
  }

 private:
  void print_layer(const DissectedLayer& layer) {
    fmt::print(out_, "  {} (bytes {} to {})\n", layer.name, layer.offset,
               layer.offset + layer.size - 1);
    for (const DissectedField& field : layer.fields) {
      fmt::print(out_, "    {:<18} {}{}{}\n", field.name, value_text(field),
                 field.note.empty() ? "" : "  ", field.note);
    }
  }

  std::ostream& out_;
  RelativeTime time_;
};

}  // namespace

std::unique_ptr<PacketPrinter> make_line_printer(std::ostream& out) {
  return std::make_unique<LinePrinter>(out);
}

std::unique_ptr<PacketPrinter> make_detail_printer(std::ostream& out) {
  return std::make_unique<DetailPrinter>(out);
}

}  // namespace openmrc::tools
