// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/series_options.h"

#include <fmt/format.h>

#include "openmrc/text/numbers.h"
#include "openmrc/text/units.h"

namespace openmrc::tools {

void add_series_options(CLI::App& command, SeriesOptions& options) {
  command
      .add_option("--series", options.file,
                  "Write a time series as CSV: goodput, windows, round trips, paths by state, "
                  "retransmits of the fabric")
      ->type_name("FILE.csv");
  command
      .add_option("--series-every", options.request.every,
                  "Distance of its samples; default 10 us. It doubles when there are 4,096")
      ->type_name("TIME");
  command
      .add_option("--series-hosts", options.request.hosts,
                  "The same of these hosts and each of their connections: h0,h17")
      ->type_name("HOST,...");
  command
      .add_option("--series-links", options.request.links,
                  "Use, queue, marks and trims of these links, in both directions, or of the N "
                  "busiest directions: p0.t0-1/up3,p0.t0-1/down2 or 8")
      ->type_name("LINK,...|N");
}

std::string series_note(const SeriesOptions& options, const sim::Series& series) {
  const auto asked = text::parse_picoseconds(options.request.every);
  if (!asked || series.every < *asked * 2) return {};
  return fmt::format("{}: a sample each {}, not each {}: so long a run has too many\n",
                     options.file, text::human(series.every), text::human(*asked));
}

}  // namespace openmrc::tools
