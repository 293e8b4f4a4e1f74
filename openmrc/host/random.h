// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/secret_numbers.h"

namespace openmrc::host {

// From the kernel: nobody can predict it.
[[nodiscard]] std::uint64_t random_number();
[[nodiscard]] inline SecretNumbers::Key random_key() { return {random_number(), random_number()}; }

}  // namespace openmrc::host
