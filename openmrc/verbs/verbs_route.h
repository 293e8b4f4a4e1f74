// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "openmrc/verbs/verbs_objects.h"

// The headers make macros of some functions.
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

// Which world an object belongs to, and the soft device's side of verbs.def.
namespace openmrc::libmrc {

// The device of this process as verbs show it; null if there is none.
ibv_device* soft_device();

inline bool is_soft(const ibv_device* device) {
  return device != nullptr && device == soft_device();
}
inline bool is_soft(const ibv_context* context) { return device_of(context) != nullptr; }
// Whom it is about; what is about a port needs nobody.
bool is_soft(const ibv_async_event* event);
template <class Object>
bool is_soft(const Object* object) {
  return object != nullptr && is_soft(object->context);
}
// A call is about its first argument.
template <class Object, class... Rest>
bool is_about_soft(const Object* object, const Rest&... /*rest*/) {
  return is_soft(object);
}

namespace soft_verbs {

#define OPENMRC_VERB(node, result, name, parameters, arguments, otherwise) result name parameters;
#define OPENMRC_VERB_REFUSED(node, result, name, parameters, arguments, otherwise)
#define OPENMRC_VERB_OF_OTHERS(node, result, name, parameters, arguments, otherwise)
#include "openmrc/verbs/verbs.def"
#undef OPENMRC_VERB
#undef OPENMRC_VERB_REFUSED
#undef OPENMRC_VERB_OF_OTHERS

// What current headers call instead of the exported function of this name.
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes,
               std::size_t length);
// Makes and ends what ibv_get_async_event waits for. Returns a descriptor, or -1 and errno.
int open_async_events(const ibv_context* context);
void close_async_events(const ibv_context* context);

// Behind the pointers in a context.
int poll_cq(ibv_cq* cq, int count, ibv_wc* completions);
int req_notify_cq(ibv_cq* cq, int solicited_only);
int post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* first, ibv_recv_wr** bad);
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attributes, std::size_t length);
int query_rt_values(ibv_context* context, ibv_values_ex* values);

}  // namespace soft_verbs

// For functions that return what they set errno to, or null.
inline int fail(int error) { return errno = error; }
inline std::nullptr_t null(int error) {
  errno = error;
  return nullptr;
}

inline constexpr int kCqeMax = 1 << 20;
inline constexpr unsigned kWorkRequestsMax = 16384;

}  // namespace openmrc::libmrc
