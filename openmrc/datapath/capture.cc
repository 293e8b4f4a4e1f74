// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/capture.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/datapath/decorator.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/frame.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/wire/capture/pcapng_writer.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/header/ipv4.h"

namespace openmrc::datapath {
namespace {

constexpr std::size_t kWriteAt = 256 * 1024;  // bytes gathered before they are written
constexpr std::size_t kEthernetSize = wire::EthernetView::kSize;

Instant since_unix_epoch() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return Instant(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
}

class CaptureDatapath final : public Decorator {
 public:
  CaptureDatapath(std::unique_ptr<Datapath> inner, Settings settings, CaptureSettings capture,
                  FileDescriptor file)
      : Decorator(std::move(inner)),
        settings_(std::move(settings)),
        capture_(std::move(capture)),
        file_(std::move(file)) {
    for (std::size_t i = 0; i < settings_.ports.size(); ++i) {
      interfaces_.push_back(
          writer_.add_interface(fmt::format("plane{}", i), settings_.ports[i].interface));
    }
  }
  CaptureDatapath(const CaptureDatapath&) = delete;
  CaptureDatapath& operator=(const CaptureDatapath&) = delete;
  ~CaptureDatapath() override { write_out(); }

  void send(std::span<const Outgoing> burst) override {
    if (is_writing()) {
      const Instant now = since_unix_epoch();
      for (const Outgoing& outgoing : burst) add_sent(outgoing, now);
      if (out_.size() >= kWriteAt) write_out();
    }
    Decorator::send(burst);
  }

  [[nodiscard]] std::size_t receive(Instant now, std::span<Incoming> into) override {
    const std::size_t count = Decorator::receive(now, into);
    if (!is_writing()) return count;
    const Instant time = since_unix_epoch();
    for (const Incoming& incoming : into.first(count)) add_received(incoming, time);
    if (count == 0 || out_.size() >= kWriteAt) write_out();  // nothing came: there is time
    return count;
  }

  [[nodiscard]] std::span<const Error> notices() const override {
    if (!own_notice_) return Decorator::notices();
    notices_.assign(Decorator::notices().begin(), Decorator::notices().end());
    notices_.push_back(*own_notice_);
    return notices_;
  }

 private:
  [[nodiscard]] bool is_writing() const { return !own_notice_; }

  void add_sent(const Outgoing& outgoing, Instant time) {
    Envelope envelope;
    if (!fill_envelope(outgoing, settings_, envelope)) return;  // will not be sent either
    write_frame(outgoing, settings_, sent_);
    start_frame(wire::version_of(envelope.to));
    if (!encapsulates(settings_.mode)) add_kernel_headers(outgoing.plane, envelope);
    append(sent_.headers);
    append(sent_.payload);
    append(sent_.trailer.bytes());
    finish_frame(outgoing.plane, time, "sent");
  }

  void add_received(const Incoming& incoming, Instant time) {
    const bool is_ipv4 = std::holds_alternative<wire::Ipv4Route>(incoming.packet.route);
    start_frame(is_ipv4 ? wire::IpVersion::kV4 : wire::IpVersion::kV6);
    frame_.resize(kEthernetSize + wire::encoded_size(incoming.packet));
    wire::encode_packet(incoming.packet, settings_.wire,
                        MutableBytes(frame_).subspan(kEthernetSize));
    finish_frame(incoming.plane, time, "received");
  }

  // What the kernel puts in front.
  void add_kernel_headers(Plane plane, const Envelope& envelope) {
    const auto length = static_cast<std::uint16_t>(wire::kUdpSize + sent_.size());
    const wire::Ipv6Address& own = settings_.ports[plane.raw()].address;
    if (wire::is_mapped_ipv4(envelope.to)) {
      add_ipv4(own, envelope, length);
    } else {
      add_ipv6(own, envelope, length);
    }
    std::array<std::byte, wire::kUdpSize> udp;
    wire::Udp{.source_port = envelope.source_port,
              .destination_port = envelope.udp_port,
              .length = length}
        .write(udp);
    append(udp);
  }

  void add_ipv4(const wire::Ipv6Address& own, const Envelope& envelope, std::uint16_t length) {
    std::array<std::byte, wire::kIpv4Size> ip;
    wire::Ipv4{.dscp = wire::dscp_of(envelope.traffic_byte),
               .ecn = wire::ecn_of(envelope.traffic_byte),
               .total_length = static_cast<std::uint16_t>(wire::kIpv4Size + length),
               .source = wire::unmapped(own),
               .destination = wire::unmapped(envelope.to)}
        .write(ip);
    append(ip);
  }
  void add_ipv6(const wire::Ipv6Address& own, const Envelope& envelope, std::uint16_t length) {
    std::array<std::byte, wire::kIpv6Size> ip;
    wire::Ipv6{.dscp = wire::dscp_of(envelope.traffic_byte),
               .ecn = wire::ecn_of(envelope.traffic_byte),
               .flow_label = envelope.flow_label,
               .payload_length = length,
               .source = own,
               .destination = envelope.to}
        .write(ip);
    append(ip);
  }

  void start_frame(wire::IpVersion version) {
    frame_.resize(kEthernetSize);
    wire::Ethernet{.type = version == wire::IpVersion::kV4 ? wire::EtherType::kIpv4
                                                           : wire::EtherType::kIpv6}
        .write(MutableBytes(frame_).first<kEthernetSize>());
  }
  void append(ConstBytes bytes) { frame_.insert(frame_.end(), bytes.begin(), bytes.end()); }
  void finish_frame(Plane plane, Instant time, std::string_view direction) {
    if (plane.raw() >= interfaces_.size()) return;
    writer_.add_frame({.interface = interfaces_[plane.raw()],
                       .time = time,
                       .bytes = frame_,
                       .comment = direction});
  }

  void write_out() {
    std::size_t at = 0;
    while (is_writing() && at < out_.size()) {
      const ssize_t written = ::write(file_.get(), out_.data() + at, out_.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        own_notice_ =
            Error{.what = with_reason(fmt::format("capture to {} ends", capture_.file), errno),
                  .remedy = "free some space"};
        break;
      }
      at += static_cast<std::size_t>(written);
    }
    written_ += at;
    out_.clear();
    if (is_writing() && written_ >= capture_.bytes_max) {
      own_notice_ =
          Error{.what = fmt::format("capture to {} ends at {} bytes", capture_.file, written_),
                .remedy = {}};
    }
  }

  Settings settings_;
  CaptureSettings capture_;
  FileDescriptor file_;
  std::vector<std::byte> out_{};
  wire::PcapngWriter writer_{out_};
  std::vector<wire::CaptureInterface> interfaces_{};
  std::vector<std::byte> frame_{};
  Frame sent_;
  std::uint64_t written_ = 0;
  std::optional<Error> own_notice_{};
  mutable std::vector<Error> notices_{};  // what notices() gave out last
};

}  // namespace

Result<std::unique_ptr<Datapath>, Error> with_capture(std::unique_ptr<Datapath> inner,
                                                      const Settings& settings,
                                                      const CaptureSettings& capture) {
  FileDescriptor file(::open(capture.file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    return failure(
        Error{.what = with_reason(fmt::format("cannot write a capture to {}", capture.file), errno),
              .remedy = "name a file that can be written"});
  }
  return std::make_unique<CaptureDatapath>(std::move(inner), settings, capture, std::move(file));
}

}  // namespace openmrc::datapath
