// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/program.h"

#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <steer.skel.h>  // made by bpftool from steer.bpf.c

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "openmrc/datapath/sockets.h"
#include "openmrc/wire/field/opcode.h"

namespace openmrc::xdp {
namespace {

using datapath::with_reason;

// What libbpf would print is said by our own errors.
int print_nothing(libbpf_print_level, const char*, va_list) { return 0; }

datapath::Error load_error(const std::string& interface, int error_number) {
  const std::string what = with_reason(
      fmt::format("the kernel does not take the XDP program for {}", interface), error_number);
  if (error_number == EPERM || error_number == EACCES) {
    return {.what = what,
            .remedy =
                "CAP_BPF and CAP_NET_ADMIN must be those of the machine, not of a user "
                "namespace; mode = \"srv6\" needs less"};
  }
  return {.what = what, .remedy = "this needs Linux 6.6 or later; mode = \"srv6\" needs less"};
}

datapath::Error attach_error(const std::string& interface, int error_number) {
  if (error_number == EBUSY || error_number == EEXIST) {
    return {.what = fmt::format("{} has an XDP program of another program", interface),
            .remedy = fmt::format("`bpftool net show dev {}` names it; mode = \"srv6\" needs none",
                                  interface)};
  }
  return load_error(interface, error_number);
}

steer_settings settings_of(const Program::Settings& from) {
  steer_settings to{};
  std::ranges::transform(from.address.bytes, to.address,
                         [](std::byte b) { return std::to_integer<unsigned char>(b); });
  to.udp_port = htons(from.wire.udp_port.raw());
  to.slot = from.slot.raw();
  static_assert(datapath::kQpnSlotShift == 16 + 8 - datapath::kSlotBits);
  static_assert(datapath::kRequestIdSlotShift == 8 + 8 - datapath::kSlotBits);
  to.slot_shift = 8 - datapath::kSlotBits;
  to.endpoint_request = static_cast<unsigned char>(wire::Opcode::kEndpointRequest);
  to.endpoint_response = static_cast<unsigned char>(wire::Opcode::kEndpointResponse);
  to.trimmed = from.wire.dscp.trimmed.raw();
  to.trimmed_last_hop = from.wire.dscp.trimmed_last_hop.raw();
  return to;
}

}  // namespace

void Program::Unload::operator()(steer* program) const { steer__destroy(program); }

Result<Program, datapath::Error> Program::attach(const Settings& settings, Patience patience) {
  // Once: it is a variable of the library's that all threads share.
  [[maybe_unused]] static const auto kBefore = libbpf_set_print(print_nothing);
  std::unique_ptr<steer, Unload> program(steer__open());
  if (!program) return failure(load_error(settings.interface, errno));
  program->rodata->settings = settings_of(settings);
  if (const int error = steer__load(program.get()); error != 0) {
    return failure(load_error(settings.interface, -error));
  }
  bpf_link*& link = program->links.steer;
  const int error = patiently(patience, [&] {
    link = bpf_program__attach_xdp(program->progs.steer, settings.interface_index);
    return link == nullptr ? errno : 0;
  });
  if (error != 0) return failure(attach_error(settings.interface, error));
  return Program(std::move(program));
}

int Program::descriptor() const { return bpf_program__fd(program_->progs.steer); }

Result<void, datapath::Error> Program::add_socket(std::uint32_t queue, int socket) {
  const int error =
      bpf_map__update_elem(program_->maps.sockets, &queue, sizeof queue, &socket, sizeof socket, 0);
  if (error == 0) return {};
  return failure(datapath::Error{
      .what =
          with_reason(fmt::format("the XDP program takes no socket for queue {}", queue), -error),
      .remedy = "give the interface at most 64 queues: ethtool -L"});
}

}  // namespace openmrc::xdp
