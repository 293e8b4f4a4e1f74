// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/base/check.h"

// What a fuzzer holds to be true; a failure aborts, which is what a fuzzer looks for.
#define FUZZ_CHECK(condition) OPENMRC_CHECK(condition, "fuzz target")
