// SPDX-License-Identifier: BSD-3-Clause
// How fast the data path moves WRITE packets of 4 KiB over one cable (veth), beside a loop of
// sendmmsg and recvmmsg that does nothing else. All in one run, in turns, as ratios: on a shared
// machine times alone say nothing. Needs root, for network namespaces of its own.
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
constexpr Ipv6Address kA = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1});
constexpr Ipv6Address kB = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2});

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
  run("ip link add a0 mtu 9000 type veth peer name b0 mtu 9000 netns " + b);
  run("ip addr add fd00::1/64 dev a0 nodad && ip link set lo up && ip link set a0 up");
  enter(hosts.b);
  run("ip addr add fd00::2/64 dev b0 nodad && ip link set lo up && ip link set b0 up");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  return hosts;
}

// ---- What is measured ----

// Sends and receives until it is told to stop; counts packets that arrived.
struct Variant {
  std::string name;
  bool offload = false;
  bool icrc = false;
  bool bare = false;
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

// Returns how many were sent.
std::uint64_t bare_send(const Variant& variant, const Clock& clock) {
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
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const int sent = ::sendmmsg(socket.get(), burst.data(), static_cast<unsigned>(burst.size()), 0);
    if (sent > 0) packets += static_cast<std::uint64_t>(sent) * per_message;
  }
  return packets;
}

std::uint64_t bare_receive(const Variant& variant, Clock& clock) {
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
    for (int i = 0; i < got; ++i) packets += burst[static_cast<std::size_t>(i)].msg_len / kDatagram;
  }
  return packets;
}

datapath::Settings settings_for(const Variant& variant, const char* interface,
                                const Ipv6Address& address) {
  datapath::Settings settings;
  settings.ports = {{.interface = interface, .address = address}};
  settings.send_icrc = variant.icrc;
  settings.wire.icrc_check = variant.icrc ? wire::IcrcCheck::kVerify : wire::IcrcCheck::kSkip;
  settings.segments_max = variant.offload ? kSegments : 1;
  settings.receive_offload = variant.offload;
  return settings;
}

std::unique_ptr<datapath::Datapath> opened(const datapath::Settings& settings) {
  auto path = datapath::open(settings);
  if (path) return *std::move(path);
  std::fprintf(stderr, "%s\n", to_string(path.error()).c_str());
  std::exit(2);
}

std::uint64_t our_send(const Variant& variant, const Clock& clock) {
  const auto path = opened(settings_for(variant, "a0", kA));
  const std::vector<std::byte> data(kPayload);
  const wire::Packet packet{
      .route = wire::Ipv6Route{.source = kA, .destination = kB, .ev = Ev(0xc001)},
      .traffic_class = wire::TrafficClass::kTrimmable,
      .ecn = wire::Ecn::kCapable0,
      .transport = {.body = wire::RdmaWrite{.destination_qp = kFirstUsableQpn,
                                            .sent = wire::TxTimestamp{},
                                            .reth = {.dma_length = kPayload},
                                            .payload = wire::Payload::of_bytes(data)}}};
  const std::size_t count = variant.offload ? 2 * kSegments : kBurst;
  const std::vector<wire::Packet> packets(count, packet);
  std::vector<datapath::Outgoing> burst;
  burst.reserve(count);
  for (const auto& each : packets) burst.push_back({.packet = &each, .plane = Plane(0)});
  while (!clock.stop) path->send(burst);
  return path->counters().of(datapath::Count::kPacketsSent);
}

std::uint64_t our_receive(const Variant& variant, Clock& clock) {
  const auto path = opened(settings_for(variant, "b0", kB));
  std::vector<datapath::Incoming> into(64);
  clock.ready = true;
  std::uint64_t packets = 0;
  while (!clock.stop) {
    const std::size_t got = path->receive(Instant(0), into);
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
      is_good = is_good && (variant.icrc || part >= kGoal);
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
