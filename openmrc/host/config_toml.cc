// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/shape_keys.h"
#include "openmrc/host/config_fields.h"
#include "openmrc/profile/transport_fields.h"

namespace openmrc::host {
namespace {

void read_ports(text::TableReader& file, Draft& draft) {
  file.for_each_table("port", [&](text::TableReader& table) {
    PortDraft& port = draft.ports.emplace_back();
    port.line = table.line();
    port.address_line = table.line_of("address");
    table.read(port_fields_of(port));
  });
}

void read_peers(text::TableReader& file, Draft& draft) {
  file.for_each_table("peer", [&](text::TableReader& table) {
    PeerDraft& peer = draft.peers.emplace_back();
    std::string address;
    const auto fields = peer_fields_of(peer, address);
    peer.line = table.line();
    table.read(fields[0]);
    for (const text::Value* value : table.elements("addresses")) {
      if (table.read_value(fields[1], *value)) peer.addresses.push_back(address);
    }
  });
}

}  // namespace

void read_draft(text::TomlReader& file, Draft& draft) {
  file.top().read(fields_of(draft));
  if (text::TableReader* section = file.top().section(profile::kTransportSection)) {
    profile::read_transport(*section, draft.config.transport);
  } else {
    // For the hints: keys of a section that is not there are known all the same.
    file.top().read(profile::transport_fields(draft.config.transport));
  }
  read_ports(file.top(), draft);
  read_peers(file.top(), draft);
  file.top().finish();
  if (!file.diagnostics().has("fabric")) return;
  if (const auto shape = fabric::make_shape(draft.shape, "fabric", file.diagnostics())) {
    draft.config.fabric = FabricPlace{.shape = *shape};
  }
}

}  // namespace openmrc::host
