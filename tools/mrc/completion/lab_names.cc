// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/completion/lab_names.h"

#include <cstdint>

#include "openmrc/fabric/names.h"
#include "openmrc/lab/layout.h"
#include "tools/mrc/lab/cli.h"

namespace openmrc::tools {
namespace {

using fabric::Fabric;
using fabric::HostIndex;
using fabric::name_of;
using Names = std::vector<std::string>;

void add_hosts(const Fabric& fabric, Names& names) {
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
    names.push_back(name_of(HostIndex(host)));
  }
}

// Links of hosts by the name that people have for them.
void add_links(const Fabric& fabric, Names& names) {
  for (const fabric::LinkId& link : lab::all_links(fabric)) {
    const bool is_host_link = link.kind == fabric::LinkId::Kind::kHost;
    names.push_back(is_host_link
                        ? name_of(fabric::NicPort{fabric.host_at(link.rack, link.port), link.plane})
                        : name_of(link));
  }
}

template <class Add>
Names of_lab(const std::string& lab, Add add) {
  Names names;
  const auto spec = lab::load_chosen(lab);
  if (spec) add(spec->fabric(), names);
  return names;
}

}  // namespace

Names hosts_of_lab(const std::string& lab) { return of_lab(lab, add_hosts); }

Names links_of_lab(const std::string& lab) { return of_lab(lab, add_links); }

Names targets_of_lab(const std::string& lab) {
  return of_lab(lab, [](const Fabric& fabric, Names& names) {
    for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
      names.push_back(name_of(lab::plane_at(plane)));
    }
    add_hosts(fabric, names);
    for (const fabric::SwitchId& id : lab::all_switches(fabric)) names.push_back(name_of(id));
    add_links(fabric, names);
  });
}

}  // namespace openmrc::tools
