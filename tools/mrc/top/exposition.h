// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The text format of Prometheus, as far as mrc top reads it. What is not understood is passed over:
// a server of another release may have more.
namespace openmrc::tools::top {

struct Series {
  std::string name{};
  std::map<std::string, std::string> labels{};
  double value = 0;

  // Empty if it has no such label.
  [[nodiscard]] std::string_view label(const std::string& name_of_label) const;
};

class Exposition {
 public:
  explicit Exposition(std::string_view text);

  [[nodiscard]] const std::vector<Series>& series() const { return series_; }
  // Of the first with this name, and this label if one is named; 0 if there is none.
  [[nodiscard]] double value(std::string_view name) const;
  [[nodiscard]] double value(std::string_view name, const std::string& label,
                             std::string_view label_value) const;

 private:
  std::vector<Series> series_;
};

}  // namespace openmrc::tools::top
