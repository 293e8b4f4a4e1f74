// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/decode/command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "openmrc/wire/capture/capture_reader.h"
#include "openmrc/wire/capture/dissection.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/decode/hex_text.h"
#include "tools/mrc/decode/packet_printer.h"
#include "tools/mrc/read_file.h"

namespace openmrc::tools {
namespace {

using wire::CapturedFrame;
using wire::CaptureReader;
using wire::LinkType;

struct DecodeOptions {
  std::string file;
  std::string hex;
  std::string hex_begins_with;  // ethernet, ip, or nothing: guess
  bool json = false;
  bool verbose = false;
  std::uint16_t udp_port = wire::kUdpPortRoce.raw();
};

// An IP packet starts with its version; what does not is taken for an Ethernet frame.
LinkType link_type_of(const std::vector<std::byte>& bytes, const std::string& begins_with) {
  if (begins_with == "ethernet") return LinkType::kEthernet;
  if (begins_with == "ip" || bytes.empty()) return LinkType::kRawIp;
  const auto version = std::to_integer<unsigned>(bytes[0] >> 4);
  return version == 4 || version == 6 ? LinkType::kRawIp : LinkType::kEthernet;
}

wire::WireSettings settings_of(const DecodeOptions& options) {
  return {.udp_port = wire::UdpPort(options.udp_port),
          .udp_port_alternate = wire::kUdpPortAlternate};
}

std::unique_ptr<PacketPrinter> printer_of(const DecodeOptions& options, bool verbose) {
  if (options.json) return make_json_printer(std::cout);
  return verbose ? make_detail_printer(std::cout) : make_line_printer(std::cout);
}

int decode_hex(const DecodeOptions& options) {
  const auto bytes = parse_hex(options.hex);
  if (!bytes) {
    return complain("decode",
                    fmt::format("--hex: {}. Give pairs of hex digits; spaces, colons and line "
                                "breaks between them are fine.",
                                bytes.error()));
  }
  const CapturedFrame frame{.bytes = *bytes,
                            .original_size = static_cast<std::uint32_t>(bytes->size()),
                            .time = Instant(0),
                            .link_type = link_type_of(*bytes, options.hex_begins_with),
                            .interface = 0,
                            .interface_name = {},
                            .comment = {}};
  const auto dissection = wire::dissect(frame.bytes, frame.link_type, settings_of(options));
  const auto printer = printer_of(options, true);
  printer->print({.number = 1, .frame = frame, .dissection = dissection});
  return dissection.verdict ? 0 : 1;
}

int decode_file(const DecodeOptions& options) {
  const auto text = read_file(options.file, kCaptureBytesMax);
  if (!text) return complain("decode", text.error());
  auto reader = CaptureReader::open(std::as_bytes(std::span(*text)));
  if (!reader) {
    return complain("decode", fmt::format("'{}': {}. To decode a packet written in hex, use --hex.",
                                          options.file, describe(reader.error().error)));
  }
  const wire::WireSettings settings = settings_of(options);
  const auto printer = printer_of(options, options.verbose);
  for (std::uint64_t number = 1;; ++number) {
    const auto frame = reader->next();
    if (!frame) {
      printer->finish();
      return complain("decode",
                      fmt::format("'{}', byte {}: {}; the {} before it printed above", options.file,
                                  frame.error().offset, describe(frame.error().error), number - 1));
    }
    if (!*frame) break;
    const auto dissection = wire::dissect((*frame)->bytes, (*frame)->link_type, settings);
    printer->print({.number = number, .frame = **frame, .dissection = dissection});
  }
  printer->finish();
  return 0;
}

}  // namespace

void add_decode_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<DecodeOptions>();
  CLI::App* command =
      app.add_subcommand("decode", "Print MRC packets from a capture file, or one given as hex");
  auto* file = command
                   ->add_option("file", options->file,
                                "Capture to read, pcapng or pcap; - for standard input")
                   ->type_name("FILE");
  auto* hex = command
                  ->add_option("--hex", options->hex,
                               "One packet as hex digits: an IP packet or an Ethernet frame")
                  ->type_name("DIGITS")
                  ->excludes(file);
  command->add_option("--as", options->hex_begins_with, "First header of --hex; guessed by default")
      ->check(CLI::IsMember({"ethernet", "ip"}))
      ->option_text("ethernet|ip")
      ->needs(hex);
  command->add_flag("-v,--verbose", options->verbose, "All headers and fields of each packet");
  command->add_flag("--json", options->json, "One JSON object a line, for programs");
  command
      ->add_option("--port", options->udp_port,
                   "UDP port of MRC, in addition to 4971; default 4791")
      ->type_name("PORT");
  command->footer(
      "Examples:\n"
      "  mrc decode examples/captures/tour.pcapng\n"
      "  mrc decode -v examples/captures/tour.pcapng | less\n"
      "  mrc decode --json capture.pcapng | jq 'select(.kind == \"SACK\")'");
  command->callback([options, file, hex, &exit_code] {
    if (file->empty() && hex->empty()) {
      exit_code =
          complain("decode", "give a capture FILE, or a packet with --hex; see mrc decode --help");
      return;
    }
    exit_code = hex->empty() ? decode_file(*options) : decode_hex(*options);
  });
}

}  // namespace openmrc::tools
