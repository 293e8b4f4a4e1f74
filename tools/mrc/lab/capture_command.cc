// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/capture_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/fabric/names.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/lab/link_capture.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/lab/cli.h"

namespace openmrc::tools {
namespace {

struct CaptureOptions {
  std::string lab;
  std::vector<std::string> words;  // the link and the file, behind the name of the lab or alone
  double seconds = 0;              // 0: no limit
  std::uint64_t count = 0;         // 0: no limit
};

lab::CaptureLimits limits_of(const CaptureOptions& options) {
  lab::CaptureLimits limits;
  if (options.seconds > 0) limits.span = Duration(static_cast<std::int64_t>(options.seconds * 1e9));
  if (options.count > 0) limits.frames = options.count;
  return limits;
}

datapath::FileDescriptor open_output(const std::string& file) {
  if (file == "-") return datapath::FileDescriptor(::dup(STDOUT_FILENO));
  return datapath::FileDescriptor(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
}

int capture(CaptureOptions options) {
  lab::take_name(options.lab, options.words);
  if (options.words.size() != 2) {
    return complain("lab", "name a link and a file, such as h0/p2 h0.pcapng");
  }
  const auto spec = lab::load_chosen(options.lab);
  if (!spec) return complain("lab", spec.error());
  const auto link = parse_link(spec->fabric(), options.words[0]);
  if (!link) return complain("lab", to_string(link.error()));
  const std::string& file = options.words[1];
  const auto output = open_output(file);
  if (!output.is_open()) {
    return complain("lab", fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
  }
  host::catch_interrupts();  // from the moment on that Ctrl-C is spoken of
  // Standard output may be the capture.
  fmt::print(stderr, "Capturing {} of lab '{}'; Ctrl-C ends it.\n", name_of(*link), spec->name);
  const auto count = capture_link(*spec, *link, output.get(), limits_of(options));
  if (!count) return complain("lab", count.error());
  fmt::print(stderr, "{} frames captured{}\n", text::grouped(count->frames),
             count->dropped == 0 ? ""
                                 : fmt::format("; {} more came faster than they could be written",
                                               text::grouped(count->dropped)));
  return 0;
}

}  // namespace

void add_capture_command(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<CaptureOptions>();
  CLI::App* command = parent.add_subcommand(
      "capture", "Write what crosses a link to a pcapng file, until Ctrl-C or a limit");
  lab::add_lab_option(*command, options->lab);
  command
      ->add_option("words", options->words,
                   "Link, such as p2.t0-1/up0 or h0/p2, and file; - for standard output")
      ->expected(2, 3)
      ->type_name("LINK FILE")
      ->required();
  command->add_option("--seconds", options->seconds, "End after this time")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_option("--count", options->count, "End after so many frames")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->footer(
      "Examples:\n"
      "  sudo mrc lab capture h0/p2 h0.pcapng --seconds 5\n"
      "  mrc decode h0.pcapng\n"
      "  sudo mrc lab capture p2.t0-1/up0 - | wireshark -k -i -");
  command->callback(
      [options, &exit_code] { lab::as_root(exit_code, [&] { return capture(*options); }); });
}

}  // namespace openmrc::tools
