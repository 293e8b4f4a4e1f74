// SPDX-License-Identifier: BSD-3-Clause
// How fast the data path moves WRITE packets of 4 KiB over one cable (veth), beside a loop that
// does nothing else: of sendmmsg and recvmmsg, or of frames in AF_XDP sockets. All in one run, in
// turns, as ratios: on a shared machine times alone say nothing. Needs root, for network namespaces
// of its own.
//
//   datapath_rate [--rounds N] [--ms N] [--check] [--only N]
//
// --check fails if a ratio is below its goal; --only runs the variant of that number, for a
// profiler.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "openmrc/datapath/open.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ethernet.h"
#ifdef OPENMRC_XDP
#include "openmrc/xdp/frame_socket.h"
#include "openmrc/xdp/interface.h"
#include "openmrc/xdp/open.h"
#include "openmrc/xdp/program.h"
#endif

namespace {

using namespace openmrc;
using datapath::FileDescriptor;
using wire::Ipv6Address;

constexpr std::size_t kPayload = 4096;
constexpr std::size_t kBurst = 32;     // packets in a call; also of one EV when they are segmented
constexpr std::size_t kSegments = 15;  // as many as fit into one message
constexpr std::size_t kDatagram = kPayload + 12 + 8 + 4 + 16 + 4;  // BTH to ICRC
constexpr double kGoal = 0.9;                                      // of the bare loop's rate
constexpr std::uint16_t kBarePort = 9000;
constexpr std::uint32_t kMtu = 9000;
constexpr Ipv6Address kA = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
constexpr Ipv6Address kB = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});
constexpr Ipv6Address kPathToB = Ipv6Address::of({0xfcbb, 0xbb00, 0xc001});  // ends there

void require(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::exit(2);
}

// ---- Two hosts and a cable ----

FileDescriptor new_namespace() {
  require(::unshare(CLONE_NEWNET) == 0, "datapath_rate: needs root, to make network namespaces");
  return FileDescriptor(::open("/proc/thread-self/ns/net", O_RDONLY));
}
void enter(const FileDescriptor& where) {
  require(::setns(where.get(), CLONE_NEWNET) == 0, "setns");
}
void run(const std::string& command) {
  require(std::system(command.c_str()) == 0, command.c_str());
}

struct Hosts {
  FileDescriptor a = new_namespace();
  FileDescriptor b = new_namespace();
};

Hosts make_hosts() {
  Hosts hosts;
  const std::string b =
      "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(hosts.b.get());
  enter(hosts.a);
  const std::string mtu = std::to_string(kMtu);
  run("ip link add a0 mtu " + mtu + " type veth peer name b0 mtu " + mtu + " netns " + b);
  run("ip addr add fd00::1/64 dev a0 nodad && ip link set lo up && "
      "ip link set a0 address 02:00:00:00:00:01 up");
  run("ip neighbour replace fd00::2 lladdr 02:00:00:00:00:02 dev a0 nud permanent && "
      "ip -6 route add fcbb:bb00:c001::/48 via fd00::2 dev a0");
  enter(hosts.b);
  run("sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.b0.seg6_enabled=1");
  run("ip addr add fd00::2/64 dev b0 nodad && ip link set lo up && "
      "ip link set b0 address 02:00:00:00:00:02 up");
  run("ip -6 route add fcbb:bb00:c001::/48 encap seg6local action End.DT6 table local dev b0");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  return hosts;
}

// ---- What is measured ----

// Sends and receives until it is told to stop; counts packets that arrived.
struct Variant {
  std::string name;
  datapath::Mode mode = datapath::Mode::kUdp;
  bool offload = false;
  bool icrc = false;
  bool bare = false;
  bool zero_copy = false;
  int compared_with = -1;
  std::vector<double> rates{};       // packets a second, by round
  std::vector<double> send_ns{};     // of the sender's processor, for a packet sent
  std::vector<double> receive_ns{};  // of the receiver's, for a packet that arrived
};

struct Clock {
  std::atomic<bool> ready{false};
  std::atomic<bool> stop{false};
};

void wait_readable(int descriptor) {
  pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
  ::poll(&wait, 1, 10);
}

FileDescriptor bare_socket(const Ipv6Address& address, std::uint16_t port) {
  FileDescriptor socket(::socket(AF_INET6, SOCK_DGRAM, 0));
  require(socket.is_open(), "socket");
  const int big = 4 * 1024 * 1024;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof big);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &big, sizeof big);
  const datapath::SocketAddress own(address, port);
  require(::bind(socket.get(), own.get(), own.size()) == 0, "bind");
  return socket;
}

// What is sent in all modes; `data` is its payload.
wire::Packet packet_of(const Variant& variant, ConstBytes data) {
  wire::Ipv6Route route{.source = kA, .destination = kB, .ev = Ev(0xc001)};
  if (datapath::encapsulates(variant.mode)) {
    route.encapsulation = {.source = kA, .destination = kPathToB, .srh = {}};
  }
  return {.route = route,
          .traffic_class = wire::TrafficClass::kTrimmable,
          .ecn = wire::Ecn::kCapable0,
          .transport = {.body = wire::RdmaWrite{.destination_qp = kFirstUsableQpn,
                                                .sent = wire::TxTimestamp{},
                                                .reth = {.dma_length = kPayload},
                                                .payload = wire::Payload::of_bytes(data)}}};
}

std::vector<std::byte> bytes_of_packet(const Variant& variant, std::uint16_t port) {
  const std::vector<std::byte> data(kPayload);
  wire::Packet packet = packet_of(variant, data);
  packet.udp_port = wire::UdpPort(port);
  std::vector<std::byte> bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, {}, bytes);
  return bytes;
}

// Whole packets by a raw socket.
std::uint64_t bare_send_raw(const Variant& variant, const Clock& clock) {
  const FileDescriptor socket(::socket(AF_INET6, SOCK_RAW, IPPROTO_RAW));
  require(socket.is_open(), "raw socket");
  std::vector<std::byte> bytes = bytes_of_packet(variant, kBarePort);
  datapath::SocketAddress to(kPathToB, 0);
  iovec piece{.iov_base = bytes.data(), .iov_len = bytes.size()};
  std::array<mmsghdr, kBurst> burst{};
  for (mmsghdr& message : burst) {
    message.msg_hdr.msg_name = to.get();
    message.msg_hdr.msg_namelen = to.size();
    message.msg_hdr.msg_iov = &piece;
    message.msg_hdr.msg_iovlen = 1;
  }
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const int sent = ::sendmmsg(socket.get(), burst.data(), kBurst, 0);
    if (sent > 0) packets += static_cast<std::uint64_t>(sent);
  }
  return packets;
}

#ifdef OPENMRC_XDP
template <class Value, class Failure>
Value required(Result<Value, Failure> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", to_string(result.error()).c_str());
  std::exit(2);
}

// Frames, each copied to where the kernel takes it from, as any program would have to.
std::uint64_t bare_send_frames(const Variant& variant, const Clock& clock) {
  constexpr std::size_t kEthernet = wire::EthernetView::kSize;
  const std::vector<std::byte> packet =
      bytes_of_packet(variant, datapath::Settings{}.wire.udp_port.raw());
  std::vector<std::byte> frame(kEthernet + packet.size());
  wire::Ethernet{.destination = wire::MacAddress(0x020000000002),
                 .source = wire::MacAddress(0x020000000001)}
      .write(std::span(frame).first<kEthernet>());
  std::ranges::copy(packet, frame.begin() + kEthernet);
  const auto socket = required(xdp::FrameSocket::open("a0", 0, kMtu, xdp::Patience::kSome));
  std::uint64_t packets = 0;
  while (!clock.stop) {
    for (std::size_t i = 0; i < kBurst; ++i) {
      const MutableBytes room = socket->frame_to_send();
      if (room.empty()) break;
      std::memcpy(room.data(), frame.data(), frame.size());
      socket->push(frame.size());
      ++packets;
    }
    socket->flush();
  }
  return packets;
}

std::uint64_t bare_receive_frames(Clock& clock) {
  const auto interface = xdp::find_interface("b0");
  require(interface.has_value(), "b0");
  auto program = required(xdp::Program::attach({.interface = "b0",
                                                .interface_index = interface->index,
                                                .address = kB,
                                                .wire = {},
                                                .slot = datapath::Slot(0)},
                                               xdp::Patience::kSome));
  const auto socket = required(xdp::FrameSocket::open("b0", 0, kMtu, xdp::Patience::kSome));
  require(program.add_socket(0, socket->descriptor()).has_value(), "XSK map");
  std::array<MutableBytes, 64> frames;
  clock.ready = true;
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const std::size_t got = socket->receive(frames);
    packets += got;
    if (got == 0) wait_readable(socket->descriptor());
  }
  return packets;
}
#endif

// The kernel says when it has read what was sent without a copy; nobody here waits for it.
void take_notifications(int socket) {
  alignas(cmsghdr) std::array<std::byte, 128> control{};
  msghdr message{};
  do {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  } while (::recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0);
}

// Returns how many were sent.
std::uint64_t bare_send(const Variant& variant, const Clock& clock) {
  if (variant.mode == datapath::Mode::kSrv6) return bare_send_raw(variant, clock);
#ifdef OPENMRC_XDP
  if (variant.mode == datapath::Mode::kXdp) return bare_send_frames(variant, clock);
#endif
  const FileDescriptor socket = bare_socket(kA, kBarePort + 1);
  const int no_check = 1;
  if (!variant.offload) ::setsockopt(socket.get(), IPPROTO_UDP, 101, &no_check, sizeof no_check);
  const std::size_t per_message = variant.offload ? kSegments : 1;
  const std::size_t messages = variant.offload ? 2 : kBurst;
  std::vector<std::byte> data(kDatagram * per_message);
  datapath::SocketAddress to(kB, kBarePort);
  iovec piece{.iov_base = data.data(), .iov_len = data.size()};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(2)> control{};
  const cmsghdr header{.cmsg_len = CMSG_LEN(2), .cmsg_level = IPPROTO_UDP, .cmsg_type = 103};
  const std::uint16_t segment = kDatagram;
  std::memcpy(control.data(), &header, sizeof header);
  std::memcpy(control.data() + CMSG_LEN(0), &segment, sizeof segment);
  std::vector<mmsghdr> burst(messages);
  for (mmsghdr& message : burst) {
    message.msg_hdr.msg_name = to.get();
    message.msg_hdr.msg_namelen = to.size();
    message.msg_hdr.msg_iov = &piece;
    message.msg_hdr.msg_iovlen = 1;
    if (!variant.offload) continue;
    message.msg_hdr.msg_control = control.data();
    message.msg_hdr.msg_controllen = control.size();
  }
  const int on = 1;
  if (variant.zero_copy) ::setsockopt(socket.get(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on);
  const int flags = variant.zero_copy ? MSG_ZEROCOPY : 0;
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const int sent =
        ::sendmmsg(socket.get(), burst.data(), static_cast<unsigned>(burst.size()), flags);
    if (variant.zero_copy) take_notifications(socket.get());
    if (sent > 0) packets += static_cast<std::uint64_t>(sent) * per_message;
  }
  return packets;
}

std::uint64_t bare_receive(const Variant& variant, Clock& clock) {
#ifdef OPENMRC_XDP
  if (variant.mode == datapath::Mode::kXdp) return bare_receive_frames(clock);
#endif
  const FileDescriptor socket = bare_socket(kB, kBarePort);
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_UDP, 102, &on, sizeof on);
  if (variant.offload) ::setsockopt(socket.get(), IPPROTO_UDP, 104, &on, sizeof on);
  constexpr std::size_t kRoom = 65536;
  std::vector<std::byte> memory(kBurst * kRoom);
  std::array<iovec, kBurst> pieces{};
  std::array<mmsghdr, kBurst> burst{};
  for (std::size_t i = 0; i < kBurst; ++i) {
    pieces[i] = {.iov_base = &memory[i * kRoom], .iov_len = kRoom};
    burst[i].msg_hdr.msg_iov = &pieces[i];
    burst[i].msg_hdr.msg_iovlen = 1;
  }
  clock.ready = true;
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const int got = ::recvmmsg(socket.get(), burst.data(), kBurst, MSG_DONTWAIT, nullptr);
    if (got <= 0) wait_readable(socket.get());
    for (int i = 0; i < got; ++i)
      packets += std::max<std::size_t>(1, burst[static_cast<std::size_t>(i)].msg_len / kDatagram);
  }
  return packets;
}

datapath::Settings settings_for(const Variant& variant, const char* interface,
                                const Ipv6Address& address) {
  datapath::Settings settings;
  settings.mode = variant.mode;
  settings.ports = {{.interface = interface, .address = address}};
  settings.send_icrc = variant.icrc;
  settings.wire.icrc_check = variant.icrc ? wire::IcrcCheck::kVerify : wire::IcrcCheck::kSkip;
  settings.segments_max = variant.offload ? kSegments : 1;
  settings.receive_offload = variant.offload;
  return settings;
}

std::unique_ptr<datapath::Datapath> opened(const datapath::Settings& settings) {
#ifdef OPENMRC_XDP
  auto path =
      settings.mode == datapath::Mode::kXdp ? xdp::open(settings) : datapath::open(settings);
#else
  auto path = datapath::open(settings);
#endif
  if (path) return *std::move(path);
  std::fprintf(stderr, "%s\n", to_string(path.error()).c_str());
  std::exit(2);
}

std::uint64_t our_send(const Variant& variant, const Clock& clock) {
  const auto path = opened(settings_for(variant, "a0", kA));
  const std::vector<std::byte> data(kPayload);
  const wire::Packet packet = packet_of(variant, data);
  const std::size_t count = variant.offload ? 2 * kSegments : kBurst;
  const std::vector<wire::Packet> packets(count, packet);
  std::vector<datapath::Outgoing> burst;
  burst.reserve(count);
  for (const auto& each : packets) burst.push_back({.packet = &each, .plane = Plane(0)});
  while (!clock.stop) {
    const bool is_blocked = path->blocked() != 0;
    path->send(is_blocked ? std::span<const datapath::Outgoing>() : burst);
  }
  return path->counters().of(datapath::Count::kPacketsSent);
}

Instant now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::nanoseconds(since).count());
}

std::uint64_t our_receive(const Variant& variant, Clock& clock) {
  const auto path = opened(settings_for(variant, "b0", kB));
  std::vector<datapath::Incoming> into(64);
  clock.ready = true;
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const std::size_t got = path->receive(now(), into);
    packets += got;
    if (got == 0) wait_readable(path->descriptors()[0]);
  }
  return packets;
}

// What this thread has used of its processor.
double cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

void measure(const Hosts& hosts, Variant& variant, std::chrono::milliseconds span) {
  Clock clock;
  std::uint64_t packets = 0;
  std::thread receiving([&] {
    enter(hosts.b);
    packets = variant.bare ? bare_receive(variant, clock) : our_receive(variant, clock);
    variant.receive_ns.push_back(cpu_ns() / static_cast<double>(packets));
  });
  while (!clock.ready) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  std::thread sending([&] {
    enter(hosts.a);
    const auto sent = variant.bare ? bare_send(variant, clock) : our_send(variant, clock);
    variant.send_ns.push_back(cpu_ns() / static_cast<double>(sent));
  });
  std::this_thread::sleep_for(span);
  clock.stop = true;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  sending.join();
  receiving.join();
  variant.rates.push_back(static_cast<double>(packets) / took.count());
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// By round, beside the bare loop of the same round.
double ratio(const Variant& variant, const Variant& bare) {
  std::vector<double> ratios(bare.rates.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = variant.rates[i] / bare.rates[i];
  return median(ratios);
}

// Prints the table; returns whether the goals are reached.
bool report(const std::vector<Variant>& variants) {
  bool is_good = true;
  std::printf("%-42s %10s %6s %8s %8s %13s\n", "4 KiB packets over one veth", "packets/s", "Gb/s",
              "ns sent", "ns rec.", "of bare loop");
  for (const Variant& variant : variants) {
    const double rate = median(variant.rates);
    std::printf("%-42s %10.0f %6.2f %8.0f %8.0f", variant.name.c_str(), rate,
                rate * kPayload * 8 / 1e9, median(variant.send_ns), median(variant.receive_ns));
    if (variant.compared_with >= 0) {
      const double part = ratio(variant, variants[static_cast<std::size_t>(variant.compared_with)]);
      std::printf(" %13.2f", part);
      is_good = is_good && (variant.icrc || variant.bare || part >= kGoal);
    }
    std::printf("\n");
  }
  return is_good;
}

struct Options {
  int rounds = 7;
  int ms = 400;
  int only = -1;
  bool check = false;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--check") options.check = true;
    if (i + 1 == argc) break;
    if (argument == "--rounds") options.rounds = std::atoi(argv[i + 1]);
    if (argument == "--only") options.only = std::atoi(argv[i + 1]);
    if (argument == "--ms") options.ms = std::atoi(argv[i + 1]);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  using enum datapath::Mode;
  const Options options = read_options(argc, argv);
  const std::chrono::milliseconds span(options.ms);
  const Hosts hosts = make_hosts();
  std::vector<Variant> variants{
      {.name = "bare loop, each packet alone", .bare = true},
      {.name = "data path, each packet alone, no ICRC", .compared_with = 0},
      {.name = "data path, each packet alone, ICRC", .icrc = true, .compared_with = 0},
      {.name = "bare loop, segmentation offload", .offload = true, .bare = true},
      {.name = "data path, segmentation offload, no ICRC", .offload = true, .compared_with = 3},
      {.name = "data path, segmentation offload, ICRC",
       .offload = true,
       .icrc = true,
       .compared_with = 3},
      {.name = "bare loop, raw socket (srv6)", .mode = kSrv6, .bare = true},
      {.name = "data path, srv6, no ICRC", .mode = kSrv6, .compared_with = 6},
      {.name = "data path, srv6, ICRC", .mode = kSrv6, .icrc = true, .compared_with = 6},
      {.name = "bare loop, offload and MSG_ZEROCOPY",
       .offload = true,
       .bare = true,
       .zero_copy = true,
       .compared_with = 3},
#ifdef OPENMRC_XDP
      {.name = "bare loop, AF_XDP", .mode = kXdp, .bare = true},
      {.name = "data path, xdp, no ICRC", .mode = kXdp, .compared_with = 10},
      {.name = "data path, xdp, ICRC", .mode = kXdp, .icrc = true, .compared_with = 10},
#endif
  };
  if (options.only >= 0) {  // there is nothing to compare with
    measure(hosts, variants.at(static_cast<std::size_t>(options.only)), span);
    return 0;
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (Variant& variant : variants) measure(hosts, variant, span);
  }
  const bool is_good = report(variants);
  if (options.check && !is_good) std::printf("below the goal of %.2f without ICRC\n", kGoal);
  return options.check && !is_good ? 1 : 0;
}
