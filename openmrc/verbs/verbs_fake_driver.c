// SPDX-License-Identifier: BSD-3-Clause
// As drivers of libibverbs are: needs libibverbs.so.1, and of it a version that only the library
// has that loads it.
void verbs_register_driver_fake(const char* name);

__attribute__((constructor)) static void start(void) { verbs_register_driver_fake("fake0"); }
