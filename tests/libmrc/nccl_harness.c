// SPDX-License-Identifier: BSD-3-Clause
// Plays NCCL to a network plugin: loads it as NCCL does, connects two processes in both directions,
// and moves data whose every byte is checked. Needs no GPU.
//
//   nccl_harness -l libnccl-net-mrc.so                the one side
//   nccl_harness -l libnccl-net-mrc.so 10.255.0.3     the other, given the address of the first
#include <dlfcn.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_net.h"
#include "support.h"

enum { kGroupMax = 8, kDepthMax = NCCL_NET_MAX_REQUESTS, kPage = 4096 };

struct Options {
  const char* plugin;
  const char* server;  // NULL: this is the server
  int version;         // 0: the highest
  int device;
  uint64_t bytes;  // in each direction
  size_t message;
  int depth;  // receives posted at once
  int group;  // buffers of one receive
  int both;   // directions at once
  uint16_t tcp_port;
  double patience;
};

// A plugin, whichever version it speaks.
struct Net {
  int version;
  const ncclNet_v10_t* v10;
  const ncclNet_v11_t* v11;
  const ncclNetTransfer_t* calls;
  void* context;  // version 11: what init made
};

// The messages of one direction, one after another. Both sides compute the same ones.
struct Stream {
  uint64_t direction;
  uint64_t left;
  uint64_t next;
  size_t message;
};
struct Message {
  uint64_t number;
  size_t size;
  uint64_t seed;
};

struct Sending {
  char* data;
  void* request;  // NULL: the slot is free
  struct Message message;
};
struct Receiving {
  char* data[kGroupMax];
  void* request;
  int count;
  struct Message messages[kGroupMax];
};

struct Harness {
  struct Options options;
  struct Net net;
  int tcp;
  void* listen_comm;
  void* send_comm;
  void* recv_comm;
  char* send_memory;
  char* recv_memory;
  void* send_mr;
  void* recv_mr;
};

static int prints_info = 0;

// --- Calls --------------------------------------------------------------------------------------

static const char* result_name(ncclResult_t result) {
  static const char* const kNames[] = {
      "ncclSuccess",         "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
      "ncclInvalidArgument", "ncclInvalidUsage",       "ncclRemoteError"};
  const size_t place = (size_t)result;
  return place < sizeof(kNames) / sizeof(kNames[0]) ? kNames[place] : "an unknown result";
}

static void check(const char* call, ncclResult_t result) {
  if (result != ncclSuccess) fail("%s: %s", call, result_name(result));
}
// A call into the plugin, which has to come back, and with success.
#define OPENMRC_CHECKED(name, call) (entering(name), check(name, call))

__attribute__((format(printf, 5, 6))) static void log_line(ncclDebugLogLevel level,
                                                           unsigned long flags, const char* file,
                                                           int line, const char* format, ...) {
  (void)flags;
  if (level != NCCL_LOG_WARN && !prints_info) return;
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "plugin %s:%d: ", file, line);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

static struct Net load(const struct Options* options) {
  entering("dlopen");
  void* const library = dlopen(options->plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail("dlopen: %s", dlerror());
  struct Net net = {0};
  if (options->version != 10) net.v11 = dlsym(library, "ncclNetPlugin_v11");
  if (net.v11 == NULL && options->version != 11) net.v10 = dlsym(library, "ncclNetPlugin_v10");
  if (net.v11 == NULL && net.v10 == NULL) {
    fail("%s has no ncclNetPlugin of version %s", options->plugin,
         options->version == 11   ? "11"
         : options->version == 10 ? "10"
                                  : "10 or 11");
  }
  net.version = net.v11 != NULL ? 11 : 10;
  return net;
}

static void init(struct Net* net) {
  ncclNetCommConfig_t config = {.trafficClass = NCCL_NET_TRAFFIC_CLASS_UNDEF};
  if (net->v11 != NULL) {
    OPENMRC_CHECKED("init", net->v11->init(&net->context, 1, &config, log_line, NULL));
    net->calls = &net->v11->transfer;
  } else {
    OPENMRC_CHECKED("init", net->v10->init(log_line, NULL));
    net->calls = &net->v10->transfer;
  }
}

static ncclNetProperties_t properties_of(const struct Net* net, int device) {
  ncclNetProperties_t properties;
  memset(&properties, 0, sizeof(properties));
  OPENMRC_CHECKED("getProperties", net->v11 != NULL ? net->v11->getProperties(device, &properties)
                                                    : net->v10->getProperties(device, &properties));
  if (properties.name == NULL) fail("getProperties: device %d has no name", device);
  return properties;
}

static void choose_device(const struct Harness* harness) {
  const struct Net* const net = &harness->net;
  int count = 0;
  OPENMRC_CHECKED("devices",
                  net->v11 != NULL ? net->v11->devices(&count) : net->v10->devices(&count));
  if (count <= 0) fail("devices: %d, so NCCL would not use this plugin", count);
  for (int device = 0; device < count; ++device) {
    const ncclNetProperties_t properties = properties_of(net, device);
    printf("device %d: %s, %d Mb/s, port %d, pointers 0x%x, %d receives at once, at %s%s\n", device,
           properties.name, properties.speed, properties.port, (unsigned)properties.ptrSupport,
           properties.maxRecvs, properties.pciPath != NULL ? properties.pciPath : "no place",
           device == harness->options.device ? " (used)" : "");
  }
  if (harness->options.device >= count) fail("there is no device %d", harness->options.device);
  const ncclNetProperties_t properties = properties_of(net, harness->options.device);
  if ((properties.ptrSupport & NCCL_PTR_HOST) == 0) fail("the device takes no host memory");
  if (harness->options.group > properties.maxRecvs) {
    fail("the device takes %d receives at once, not %d", properties.maxRecvs,
         harness->options.group);
  }
}

// --- Connecting ---------------------------------------------------------------------------------

static ncclResult_t start_listening(struct Harness* harness, void* handle) {
  const struct Net* const net = &harness->net;
  const int device = harness->options.device;
  return net->v11 != NULL ? net->v11->listen(net->context, device, handle, &harness->listen_comm)
                          : net->v10->listen(device, handle, &harness->listen_comm);
}

static ncclResult_t try_connect(struct Harness* harness, void* handle) {
  const struct Net* const net = &harness->net;
  const int device = harness->options.device;
  ncclNetDeviceHandle_t* offload = NULL;
  if (net->v11 != NULL) {
    return net->v11->connect(net->context, device, handle, &harness->send_comm, &offload);
  }
  ncclNetCommConfig_t config = {.trafficClass = NCCL_NET_TRAFFIC_CLASS_UNDEF};
  return net->v10->connect(device, &config, handle, &harness->send_comm, &offload);
}

static void connect_both_ways(struct Harness* harness) {
  // The plugin may keep its state in the handle between calls, and point into it.
  _Alignas(16) char here[NCCL_NET_HANDLE_MAXSIZE] = {0};
  _Alignas(16) char there[NCCL_NET_HANDLE_MAXSIZE] = {0};
  OPENMRC_CHECKED("listen", start_listening(harness, here));
  if (harness->listen_comm == NULL) fail("listen: gave no listenComm");
  send_all(harness->tcp, here, sizeof(here), "the handle");
  receive_all(harness->tcp, there, sizeof(there), "the handle");

  struct Patience patience;
  patience_begin(&patience, harness->options.patience);
  while (harness->send_comm == NULL || harness->recv_comm == NULL) {
    if (harness->send_comm == NULL) OPENMRC_CHECKED("connect", try_connect(harness, there));
    if (harness->recv_comm == NULL) {
      ncclNetDeviceHandle_t* offload = NULL;
      OPENMRC_CHECKED("accept", harness->net.calls->accept(harness->listen_comm,
                                                           &harness->recv_comm, &offload));
    }
    if (patience_is_over(&patience)) {
      fail(
          "%s%s: nothing within %.0f s", harness->send_comm == NULL ? "connect" : "",
          harness->recv_comm == NULL ? (harness->send_comm == NULL ? " and accept" : "accept") : "",
          harness->options.patience);
    }
  }
}

static char* allocate(size_t size) {
  char* const memory = aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
  if (memory == NULL) fail("no memory for %zu bytes", size);
  memset(memory, 0, size);
  return memory;
}

static size_t memory_size(const struct Options* options) {
  return options->message * (size_t)options->depth * (size_t)options->group;
}

static void register_memory(struct Harness* harness) {
  const size_t size = memory_size(&harness->options);
  harness->send_memory = allocate(size);
  harness->recv_memory = allocate(size);
  OPENMRC_CHECKED("regMr of what is sent",
                  harness->net.calls->regMr(harness->send_comm, harness->send_memory, size,
                                            NCCL_PTR_HOST, &harness->send_mr));
  OPENMRC_CHECKED("regMr of what is received",
                  harness->net.calls->regMr(harness->recv_comm, harness->recv_memory, size,
                                            NCCL_PTR_HOST, &harness->recv_mr));
}

// --- Messages -----------------------------------------------------------------------------------

// Most are full, some are short and odd, and a few are empty, which the interface allows.
static struct Message next_message(struct Stream* stream) {
  const uint64_t number = stream->next++;
  size_t size = stream->message;
  if (number % 16 == 5) size = 0;
  if (number % 8 == 3) size = size / 2 + number % 61;
  if (size > stream->message) size = stream->message;
  if (size > stream->left) size = stream->left;
  stream->left -= size;
  return (struct Message){
      .number = number, .size = size, .seed = (stream->direction << 32) + number};
}

struct Outgoing {
  struct Stream stream;
  struct Sending slots[kDepthMax * kGroupMax];
  struct Message pending;  // filled in, and not yet taken by isend
  int has_pending;
  uint64_t in_flight;
};

// Each of these does what can be done now, and returns how much happened.
static int post_sends(struct Harness* harness, struct Outgoing* out) {
  const int slots = harness->options.depth * harness->options.group;
  int progress = 0;
  while (out->has_pending || out->stream.left > 0) {
    const uint64_t number = out->has_pending ? out->pending.number : out->stream.next;
    struct Sending* const slot = &out->slots[number % (uint64_t)slots];
    if (slot->request != NULL) break;
    if (!out->has_pending) {
      out->pending = next_message(&out->stream);
      fill_pattern(slot->data, out->pending.size, out->pending.seed);
      out->has_pending = 1;
    }
    const int tag = (int)(number % (uint64_t)harness->options.group);
    OPENMRC_CHECKED(
        "isend", harness->net.calls->isend(harness->send_comm, slot->data, out->pending.size, tag,
                                           harness->send_mr, NULL, &slot->request));
    if (slot->request == NULL) break;
    slot->message = out->pending;
    out->has_pending = 0;
    ++out->in_flight;
    ++progress;
  }
  return progress;
}

static int finish_sends(struct Harness* harness, struct Outgoing* out) {
  int progress = 0;
  for (int i = 0; i < harness->options.depth * harness->options.group; ++i) {
    struct Sending* const slot = &out->slots[i];
    if (slot->request == NULL) continue;
    int done = 0;
    int size = -1;
    OPENMRC_CHECKED("test of isend", harness->net.calls->test(slot->request, &done, &size));
    if (!done) continue;
    if ((size_t)size != slot->message.size) {
      fail("test: message %llu of %zu bytes was sent as %d bytes",
           (unsigned long long)slot->message.number, slot->message.size, size);
    }
    slot->request = NULL;
    --out->in_flight;
    ++progress;
  }
  return progress;
}

struct Incoming {
  struct Stream stream;
  struct Receiving slots[kDepthMax];
  uint64_t groups;
  uint64_t in_flight;
  uint64_t verified_bytes;
  uint64_t verified_messages;
};

static int post_receives(struct Harness* harness, struct Incoming* in) {
  int progress = 0;
  while (in->stream.left > 0) {
    struct Receiving* const slot = &in->slots[in->groups % (uint64_t)harness->options.depth];
    if (slot->request != NULL) break;
    void* data[kGroupMax];
    size_t sizes[kGroupMax];
    int tags[kGroupMax];
    void* handles[kGroupMax];
    void* profiles[kGroupMax] = {NULL};
    for (slot->count = 0; slot->count < harness->options.group && in->stream.left > 0;
         ++slot->count) {
      slot->messages[slot->count] = next_message(&in->stream);
      data[slot->count] = slot->data[slot->count];
      sizes[slot->count] = harness->options.message;
      tags[slot->count] = slot->count;
      handles[slot->count] = harness->recv_mr;
    }
    OPENMRC_CHECKED("irecv", harness->net.calls->irecv(harness->recv_comm, slot->count, data, sizes,
                                                       tags, handles, profiles, &slot->request));
    if (slot->request == NULL) fail("irecv: gave no request, with %d at most", kDepthMax);
    ++in->groups;
    ++in->in_flight;
    ++progress;
  }
  return progress;
}

// What NCCL asks for where the processor that reads is not the one that waits.
static void flush(struct Harness* harness, struct Receiving* slot, int* sizes) {
  if (harness->net.calls->iflush == NULL) return;
  void* data[kGroupMax];
  void* handles[kGroupMax];
  for (int i = 0; i < slot->count; ++i) {
    data[i] = slot->data[i];
    handles[i] = harness->recv_mr;
  }
  void* request = NULL;
  OPENMRC_CHECKED("iflush", harness->net.calls->iflush(harness->recv_comm, slot->count, data, sizes,
                                                       handles, &request));
  struct Patience patience;
  patience_begin(&patience, harness->options.patience);
  for (int done = request == NULL; !done;) {
    OPENMRC_CHECKED("test of iflush", harness->net.calls->test(request, &done, NULL));
    if (!done && patience_is_over(&patience)) {
      fail("test of iflush: not done within %.0f s", harness->options.patience);
    }
  }
}

static void verify(struct Incoming* in, const struct Receiving* slot, const int* sizes) {
  for (int i = 0; i < slot->count; ++i) {
    const struct Message* const message = &slot->messages[i];
    if ((size_t)sizes[i] != message->size) {
      fail("test: message %llu of %zu bytes arrived as %d bytes",
           (unsigned long long)message->number, message->size, sizes[i]);
    }
    const size_t difference = first_difference(slot->data[i], message->size, message->seed);
    if (difference != message->size) {
      fail("message %llu: byte %zu of %zu is not what was sent",
           (unsigned long long)message->number, difference, message->size);
    }
    in->verified_bytes += message->size;
    ++in->verified_messages;
  }
}

static int finish_receives(struct Harness* harness, struct Incoming* in) {
  int progress = 0;
  for (int i = 0; i < harness->options.depth; ++i) {
    struct Receiving* const slot = &in->slots[i];
    if (slot->request == NULL) continue;
    int done = 0;
    int sizes[kGroupMax] = {0};
    OPENMRC_CHECKED("test of irecv", harness->net.calls->test(slot->request, &done, sizes));
    if (!done) continue;
    flush(harness, slot, sizes);
    verify(in, slot, sizes);
    slot->request = NULL;
    --in->in_flight;
    ++progress;
  }
  return progress;
}

// --- A run --------------------------------------------------------------------------------------

static int is_open(const struct Outgoing* out, const struct Incoming* in) {
  return out->stream.left > 0 || out->has_pending || out->in_flight > 0 || in->stream.left > 0 ||
         in->in_flight > 0;
}

static void give_memory(const struct Harness* harness, struct Outgoing* out, struct Incoming* in) {
  const int group = harness->options.group;
  for (int i = 0; i < harness->options.depth * group; ++i) {
    out->slots[i].data = harness->send_memory + (size_t)i * harness->options.message;
    in->slots[i / group].data[i % group] =
        harness->recv_memory + (size_t)i * harness->options.message;
  }
}

static void print_done(const char* what, uint64_t bytes, uint64_t messages, double seconds) {
  if (messages == 0) return;
  printf("%s %llu bytes in %llu messages, %.3f Gb/s\n", what, (unsigned long long)bytes,
         (unsigned long long)messages, (double)bytes * 8 / seconds / 1e9);
  fflush(stdout);
}

// Moves what the options say out of this process and into it, at the same time if both.
static void transfer(struct Harness* harness, int sends, int receives) {
  static struct Outgoing out;
  static struct Incoming in;
  const struct Options* const options = &harness->options;
  const uint64_t mine = options->server == NULL ? 2 : 1;
  out = (struct Outgoing){.stream = {.direction = mine,
                                     .left = sends ? options->bytes : 0,
                                     .message = options->message}};
  in = (struct Incoming){.stream = {.direction = 3 - mine,
                                    .left = receives ? options->bytes : 0,
                                    .message = options->message}};
  give_memory(harness, &out, &in);

  wait_for_each_other(harness->tcp, "its readiness to start");
  const double begin = now_seconds();
  struct Patience patience;
  patience_begin(&patience, options->patience);
  while (is_open(&out, &in)) {
    const int progress = post_receives(harness, &in) + finish_receives(harness, &in) +
                         post_sends(harness, &out) + finish_sends(harness, &out);
    if (progress > 0) {
      patience_renew(&patience);
    } else if (patience_is_over(&patience)) {
      fail(
          "%s: nothing for %.0f s, with %llu sends and %llu receives in flight, %llu bytes still "
          "to send and %llu to receive",
          out.in_flight + in.in_flight > 0 ? "test" : "isend", options->patience,
          (unsigned long long)out.in_flight, (unsigned long long)in.in_flight,
          (unsigned long long)out.stream.left, (unsigned long long)in.stream.left);
    }
  }
  const double seconds = now_seconds() - begin;
  print_done("sent", sends ? options->bytes : 0, out.stream.next, seconds);
  print_done("received and verified", in.verified_bytes, in.verified_messages, seconds);
}

static void close_all(struct Harness* harness) {
  const ncclNetTransfer_t* const calls = harness->net.calls;
  OPENMRC_CHECKED("deregMr of what is sent", calls->deregMr(harness->send_comm, harness->send_mr));
  OPENMRC_CHECKED("deregMr of what is received",
                  calls->deregMr(harness->recv_comm, harness->recv_mr));
  wait_for_each_other(harness->tcp, "its readiness to close");
  OPENMRC_CHECKED("closeSend", calls->closeSend(harness->send_comm));
  OPENMRC_CHECKED("closeRecv", calls->closeRecv(harness->recv_comm));
  OPENMRC_CHECKED("closeListen", calls->closeListen(harness->listen_comm));
  if (harness->net.v11 != NULL)
    OPENMRC_CHECKED("finalize", harness->net.v11->finalize(harness->net.context));
  free(harness->send_memory);
  free(harness->recv_memory);
  close(harness->tcp);
}

static _Noreturn void usage(int code) {
  fputs(
      "nccl_harness -l <plugin> [options]          one side\n"
      "nccl_harness -l <plugin> [options] <IPv4>   the other, given the address of the first\n"
      "  -l <path>     the plugin\n"
      "  -V <number>   version of its interface: 10 or 11 (the highest it has)\n"
      "  -d <number>   device (0)\n"
      "  -b <bytes>    to move in each direction (1 GiB)\n"
      "  -s <bytes>    of a full message (4 MiB)\n"
      "  -q <count>    receives posted at once, up to 8 (8)\n"
      "  -r <count>    buffers of one receive, up to 8 (1)\n"
      "  -x            both directions at once, not one after the other\n"
      "  -p <port>     TCP port (18186)\n"
      "  -t <seconds>  patience with anything that does not happen (30)\n"
      "  -v            print all that the plugin says, not only warnings\n",
      code == 0 ? stdout : stderr);
  exit(code);
}

static struct Options parse_options(int argc, char** argv) {
  struct Options options = {.bytes = UINT64_C(1) << 30,
                            .message = 4 << 20,
                            .depth = kDepthMax,
                            .group = 1,
                            .tcp_port = 18186,
                            .patience = 30};
  for (int option; (option = getopt(argc, argv, "l:V:d:b:s:q:r:xp:t:vh")) != -1;) {
    switch (option) {
      case 'l': options.plugin = optarg; break;
      case 'V': options.version = (int)parse_number("-V", optarg, 10, 11); break;
      case 'd': options.device = (int)parse_number("-d", optarg, 0, 255); break;
      case 'b': options.bytes = parse_number("-b", optarg, 1, UINT64_C(1) << 40); break;
      case 's': options.message = parse_number("-s", optarg, 1, 1 << 30); break;
      case 'q': options.depth = (int)parse_number("-q", optarg, 1, kDepthMax); break;
      case 'r': options.group = (int)parse_number("-r", optarg, 1, kGroupMax); break;
      case 'x': options.both = 1; break;
      case 'p': options.tcp_port = (uint16_t)parse_number("-p", optarg, 1, 65535); break;
      case 't': options.patience = (double)parse_number("-t", optarg, 1, 3600); break;
      case 'v': prints_info = 1; break;
      case 'h': usage(0);
      default: usage(2);
    }
  }
  if (options.plugin == NULL || argc - optind > 1) usage(2);
  options.server = argv[optind];  // NULL behind the last
  return options;
}

int main(int argc, char** argv) {
  struct Harness harness = {.options = parse_options(argc, argv)};
  const struct Options* const options = &harness.options;
  watch_calls(options->patience);
  harness.net = load(options);
  init(&harness.net);
  printf("%s speaks ncclNet version %d\n", options->plugin, harness.net.version);
  choose_device(&harness);
  harness.tcp = options->server == NULL
                    ? meet_as_server(options->tcp_port, options->patience)
                    : meet_as_client(options->server, options->tcp_port, options->patience);
  connect_both_ways(&harness);
  register_memory(&harness);
  if (options->both) {
    transfer(&harness, 1, 1);
  } else {
    const int is_client = options->server != NULL;
    transfer(&harness, is_client, !is_client);
    transfer(&harness, !is_client, is_client);
  }
  close_all(&harness);
  puts("closed");
  return 0;
}
