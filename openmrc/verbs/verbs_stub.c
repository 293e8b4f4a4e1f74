// SPDX-License-Identifier: BSD-3-Clause
// libibverbs-system.so.1 where rdma-core is not installed: nothing, under a name that the loader
// must find. No program there asks for more, because drivers come with rdma-core.
const char openmrc_no_rdma_core[] = "no rdma-core";
