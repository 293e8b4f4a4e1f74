// SPDX-License-Identifier: BSD-3-Clause
// Protection domains and memory regions.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

// Optional rights are hints.
constexpr unsigned kAccessKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

// Who lets peers write must be allowed to write himself.
bool is_valid(unsigned access) {
  const bool peers_write = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  const bool local_write = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  return (access & ~kAccessKnown) == 0 && (local_write || !peers_write);
}

// Whether there is memory everywhere. A peer that writes to nothing would end this process, and
// programs expect an error when they register.
bool is_mapped(void* address, std::size_t length) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (first + length < first) return false;
  const std::size_t before = first % page;
  auto* at = static_cast<std::byte*>(address) - before;
  std::array<unsigned char, 4096> resident{};
  for (std::size_t left = before + length; left > 0;) {
    const std::size_t part = std::min(left, resident.size() * page);
    if (mincore(at, part, resident.data()) != 0) return false;
    at += part;
    left -= part;
  }
  return true;
}

Result<host::Host*, int> runtime_of(const ibv_context* context) {
  auto runtime = device_of(context)->runtime();
  if (runtime) return *runtime;
  std::fprintf(stderr, "openmrc: openmrc0 does not start: %s\n",
               to_string(runtime.error()).c_str());
  return failure(EIO);
}

ibv_mr* register_memory(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        unsigned access) {
  if (length == 0 || !is_valid(access)) return null(EINVAL);
  if (!is_mapped(address, length)) return null(EFAULT);
  const auto runtime = runtime_of(pd->context);
  if (!runtime) return null(runtime.error());
  SoftProtectionDomain* domain = soft_domain(pd);
  auto made = std::make_unique<ibv_mr>();
  const auto key = device_of(pd->context)
                       ->memory()
                       .add(**runtime, {.bytes = {static_cast<std::byte*>(address), length},
                                        .address = iova,
                                        .domain = domain->domain,
                                        .local_write = (access & IBV_ACCESS_LOCAL_WRITE) != 0,
                                        .remote_write = (access & IBV_ACCESS_REMOTE_WRITE) != 0,
                                        .remote_read = (access & IBV_ACCESS_REMOTE_READ) != 0,
                                        .remote_atomic = (access & IBV_ACCESS_REMOTE_ATOMIC) != 0});
  if (!key) return null(iova + length < iova ? EINVAL : ENOMEM);
  ++domain->users;
  *made = {.context = pd->context,
           .pd = pd,
           .addr = address,
           .length = length,
           .handle = *key,
           .lkey = *key,
           .rkey = *key};
  return made.release();
}

}  // namespace

namespace soft_verbs {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  const auto runtime = runtime_of(context);
  if (!runtime) return null(runtime.error());
  auto* pd = new SoftProtectionDomain{};
  pd->verbs.context = context;
  pd->domain = (*runtime)->create_protection_domain();
  pd->verbs.handle = pd->domain.raw();
  return &pd->verbs;
}

int ibv_dealloc_pd(ibv_pd* pd) {
  SoftProtectionDomain* domain = soft_domain(pd);
  if (domain == nullptr) return EINVAL;
  if (domain->users.load() != 0) return fail(EBUSY);
  delete domain;
  return 0;
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access) {
  return register_memory(pd, address, length, iova, access);
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                        int access) {
  return register_memory(pd, address, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  return register_memory(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                         static_cast<unsigned>(access));
}

int ibv_dereg_mr(ibv_mr* mr) {
  if (!device_of(mr->context)->memory().remove(mr->lkey)) return fail(EINVAL);
  --soft_domain(mr->pd)->users;
  delete mr;
  return 0;
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
