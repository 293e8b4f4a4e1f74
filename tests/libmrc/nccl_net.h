// SPDX-License-Identifier: BSD-3-Clause
// The interface between NCCL and its network plugins, versions 10 and 11, as far as a caller needs
// it: a plugin is a shared library with a data symbol for each version it speaks. The names are
// those of the interface.
#ifndef OPENMRC_TESTS_LIBMRC_NCCL_NET_H_
#define OPENMRC_TESTS_LIBMRC_NCCL_NET_H_

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
  NCCL_NET_HANDLE_MAXSIZE = 128,
  NCCL_NET_MAX_DEVS_PER_NIC = 4,
  NCCL_NET_MAX_REQUESTS = 8,  // the fewest that a plugin must bear at once
  NCCL_PTR_HOST = 1,
  NCCL_NET_TRAFFIC_CLASS_UNDEF = -1,
};

typedef enum {
  ncclSuccess = 0,  // also: not yet, with a NULL in place of the result
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
} ncclResult_t;

typedef enum {
  NCCL_LOG_NONE = 0,
  NCCL_LOG_VERSION = 1,
  NCCL_LOG_WARN = 2,
  NCCL_LOG_INFO = 3,
  NCCL_LOG_ABORT = 4,
  NCCL_LOG_TRACE = 5,
} ncclDebugLogLevel;

typedef void (*ncclDebugLogger_t)(ncclDebugLogLevel level, unsigned long flags, const char* file,
                                  int line, const char* format, ...);
typedef ncclResult_t (*ncclProfilerCallback_t)(void** event, int type, void* parent,
                                               int64_t plugin_id, void* data);

typedef struct {
  int trafficClass;
} ncclNetCommConfig_t;

// For devices that move data without the processor; unused here.
typedef struct {
  int netDeviceType;
  int netDeviceVersion;
  void* handle;
  size_t size;
  int needsProxyProgress;
} ncclNetDeviceHandle_t;

typedef struct {
  int ndevs;
  int devs[NCCL_NET_MAX_DEVS_PER_NIC];
} ncclNetVDeviceProps_t;

// Version 10 ends before maxMultiRequestSize; a plugin of that version leaves it alone.
typedef struct {
  char* name;
  char* pciPath;
  uint64_t guid;
  int ptrSupport;
  int regIsGlobal;
  int forceFlush;
  int speed;  // Mb/s
  int port;
  float latency;
  int maxComms;
  int maxRecvs;
  int netDeviceType;
  int netDeviceVersion;
  ncclNetVDeviceProps_t vProps;
  size_t maxP2pBytes;
  size_t maxCollBytes;
  int maxMultiRequestSize;
} ncclNetProperties_t;
static_assert(sizeof(ncclNetProperties_t) == 112, "as version 11 has it");
static_assert(offsetof(ncclNetProperties_t, vProps) == 64, "as version 11 has it");
static_assert(offsetof(ncclNetProperties_t, maxP2pBytes) == 88, "as version 11 has it");
static_assert(offsetof(ncclNetProperties_t, maxMultiRequestSize) == 104, "where version 10 ends");

// What the two versions have in common, in its order. Requests may be NULL for "not now".
typedef struct {
  ncclResult_t (*accept)(void* listenComm, void** recvComm, ncclNetDeviceHandle_t** recvDevComm);
  ncclResult_t (*regMr)(void* comm, void* data, size_t size, int type, void** mhandle);
  ncclResult_t (*regMrDmaBuf)(void* comm, void* data, size_t size, int type, uint64_t offset,
                              int fd, void** mhandle);
  ncclResult_t (*deregMr)(void* comm, void* mhandle);
  ncclResult_t (*isend)(void* sendComm, void* data, size_t size, int tag, void* mhandle,
                        void* phandle, void** request);
  ncclResult_t (*irecv)(void* recvComm, int n, void** data, size_t* sizes, int* tags,
                        void** mhandles, void** phandles, void** request);
  ncclResult_t (*iflush)(void* recvComm, int n, void** data, int* sizes, void** mhandles,
                         void** request);
  ncclResult_t (*test)(void* request, int* done, int* sizes);
  ncclResult_t (*closeSend)(void* sendComm);
  ncclResult_t (*closeRecv)(void* recvComm);
  ncclResult_t (*closeListen)(void* listenComm);
  ncclResult_t (*getDeviceMr)(void* comm, void* mhandle, void** dptr_mhandle);
  ncclResult_t (*irecvConsumed)(void* recvComm, int n, void* request);
  ncclResult_t (*makeVDevice)(int* device, ncclNetVDeviceProps_t* props);
} ncclNetTransfer_t;

typedef struct {
  const char* name;
  ncclResult_t (*init)(ncclDebugLogger_t log, ncclProfilerCallback_t profile);
  ncclResult_t (*devices)(int* count);
  ncclResult_t (*getProperties)(int device, ncclNetProperties_t* properties);
  ncclResult_t (*listen)(int device, void* handle, void** listenComm);
  ncclResult_t (*connect)(int device, ncclNetCommConfig_t* config, void* handle, void** sendComm,
                          ncclNetDeviceHandle_t** sendDevComm);
  ncclNetTransfer_t transfer;
} ncclNet_v10_t;
static_assert(sizeof(ncclNet_v10_t) == 20 * sizeof(void*), "as many slots as version 10 has");

typedef struct {
  const char* name;
  ncclResult_t (*init)(void** context, uint64_t commId, ncclNetCommConfig_t* config,
                       ncclDebugLogger_t log, ncclProfilerCallback_t profile);
  ncclResult_t (*devices)(int* count);
  ncclResult_t (*getProperties)(int device, ncclNetProperties_t* properties);
  ncclResult_t (*listen)(void* context, int device, void* handle, void** listenComm);
  ncclResult_t (*connect)(void* context, int device, void* handle, void** sendComm,
                          ncclNetDeviceHandle_t** sendDevComm);
  ncclNetTransfer_t transfer;
  ncclResult_t (*finalize)(void* context);
  ncclResult_t (*setNetAttr)(void* context, void* attributes);
} ncclNet_v11_t;
static_assert(sizeof(ncclNet_v11_t) == 22 * sizeof(void*), "as many slots as version 11 has");

#endif  // OPENMRC_TESTS_LIBMRC_NCCL_NET_H_
