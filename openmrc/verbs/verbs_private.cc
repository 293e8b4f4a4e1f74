// SPDX-License-Identifier: BSD-3-Clause
// ibv_devinfo asks for this function under the private node of the rdma-core that it came with. It
// is about a context, so it must not be the real library's. Version 34 is that of verbs.def.
#include <infiniband/verbs.h>

#include <cstdint>

extern "C" int ibv_query_gid_type(ibv_context* context, std::uint8_t port, unsigned index,
                                  unsigned* type);

#define OPENMRC_UNDER_NODE(number)                                                        \
  extern "C" [[gnu::used]] int openmrc_query_gid_type_##number(                           \
      ibv_context* context, std::uint8_t port, unsigned index, unsigned* type);           \
  extern "C" int openmrc_query_gid_type_##number(ibv_context* context, std::uint8_t port, \
                                                 unsigned index, unsigned* type) {        \
    return ibv_query_gid_type(context, port, index, type);                                \
  }                                                                                       \
  asm(".symver openmrc_query_gid_type_" #number ", ibv_query_gid_type@IBVERBS_PRIVATE_" #number)

OPENMRC_UNDER_NODE(25);
OPENMRC_UNDER_NODE(33);
OPENMRC_UNDER_NODE(57);
OPENMRC_UNDER_NODE(59);
OPENMRC_UNDER_NODE(64);
OPENMRC_UNDER_NODE(65);
OPENMRC_UNDER_NODE(66);
OPENMRC_UNDER_NODE(67);
OPENMRC_UNDER_NODE(68);
OPENMRC_UNDER_NODE(69);
OPENMRC_UNDER_NODE(70);
