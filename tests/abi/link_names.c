// SPDX-License-Identifier: BSD-3-Clause
// The smallest program that needs libmrc: fails if library and header disagree on the version.
#include <mrc.h>
#include <stdio.h>

int main(void) {
  uint32_t current = 0;
  uint32_t last_supported = 1;
  uint32_t vendor = 0;
  uint32_t last_supported_vendor = 1;
  mrc_query_version(&current, &last_supported, &vendor, &last_supported_vendor);
  printf("library %#x to %#x, vendor %#x to %#x\n", last_supported, current, last_supported_vendor,
         vendor);
  return current != MRC_API_CURRENT_VERSION || last_supported != MRC_API_LAST_SUPPORTED_VERSION ||
         vendor != MRC_VENDOR_API_CURRENT_VERSION ||
         last_supported_vendor != MRC_VENDOR_API_LAST_SUPPORTED_VERSION;
}
