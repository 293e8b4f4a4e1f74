// SPDX-License-Identifier: BSD-3-Clause
// Prints the fields of every header as docs/protocol shows them, from the same layouts that the
// codec is made of.
#include <fmt/format.h>

#include <string>

#include "openmrc/wire/header/aeth.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/deth.h"
#include "openmrc/wire/header/eeth.h"
#include "openmrc/wire/header/erth.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/header/meth.h"
#include "openmrc/wire/header/neth.h"
#include "openmrc/wire/header/peth.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/header/tseth.h"

namespace {

using namespace openmrc::wire;

// "byte 4", "bytes 5-7", or for parts of a byte "byte 1, bits 5-4", bit 7 being the highest.
template <class Field>
std::string place() {
  constexpr std::size_t kFirst = Field::kOffset / 8;
  constexpr std::size_t kLast = (Field::kEnd - 1) / 8;
  constexpr bool kWholeBytes = Field::kOffset % 8 == 0 && Field::kEnd % 8 == 0;
  if (kWholeBytes) {
    return kFirst == kLast ? fmt::format("{}", kFirst) : fmt::format("{}-{}", kFirst, kLast);
  }
  constexpr std::size_t kHigh = 7 - Field::kOffset % 8;
  constexpr std::size_t kLow = 7 - (Field::kEnd - 1) % 8;
  if (kFirst != kLast) return fmt::format("{}.{}-{}.{}", kFirst, kHigh, kLast, kLow);
  return kHigh == kLow ? fmt::format("{}.{}", kFirst, kHigh)
                       : fmt::format("{}.{}-{}", kFirst, kHigh, kLow);
}

template <class Layout>
void print(const char* name) {
  fmt::print("<!-- layout {} -->\n{}: {} bytes.\n\n| byte.bit | bits | field |\n|---|---|---|\n",
             name, name, kWireSize<Layout>);
  Layout::Fields::for_each([]<class Field> {
    const bool reserved = Field::kName.contains("reserved");
    fmt::print("| {} | {} | {} |\n", place<Field>(), Field::kWidth,
               reserved ? "*reserved*" : fmt::format("`{}`", Field::kName));
  });
  fmt::print("<!-- end -->\n");
}

}  // namespace

int main() {
  print<BthLayout>("BTH");
  print<MethLayout>("METH");
  print<TsethLayout>("TSETH");
  print<RethLayout>("RETH");
  print<ImmdtLayout>("ImmDt");
  print<DethLayout>("DETH");
  print<AethLayout>("AETH");
  print<SethLayout>("SETH");
  print<CcStateLayout>("CC_STATE");
  print<NethLayout>("NETH");
  print<PethLayout>("PETH");
  print<ErthLayout>("ERTH");
  print<EethLayout>("EETH");
  print<SrhLayout>("SRH");
  return 0;
}
