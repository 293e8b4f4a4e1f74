// SPDX-License-Identifier: BSD-3-Clause
// In a static program getaddrinfo() would load the modules that nsswitch.conf names, which fit only
// the C library that they were built with. The two that a C library has inside are used instead:
// /etc/hosts and DNS.
#include <nss.h>

namespace {

[[maybe_unused]] const int kConfigured = __nss_configure_lookup("hosts", "files dns");

}  // namespace
