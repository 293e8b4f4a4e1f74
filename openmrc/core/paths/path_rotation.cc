// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/path_rotation.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::core {

void PathRotation::start(const EvProfile& profile) {
  passes_ = std::make_unique<Pass[]>(profile.planes());
  order_ = std::make_unique<PathIndex[]>(profile.path_count());
  for (std::size_t p = 0; p < profile.planes(); ++p) {
    const PathRange paths = profile.paths(Plane(static_cast<std::uint8_t>(p)));
    passes_[p].first = static_cast<std::uint16_t>(paths.first);
  }
}

void PathRotation::add(Plane plane, PathIndex path) {
  Pass& pass = passes_[plane.raw()];
  order_[std::size_t{pass.first} + pass.size] = path;
  ++pass.size;
}

// The order of the others stays, and so does who has had his turn.
void PathRotation::remove(Plane plane, PathIndex path) {
  Pass& pass = passes_[plane.raw()];
  PathIndex* const begin = &order_[pass.first];
  PathIndex* const end = begin + pass.size;
  PathIndex* const found = std::find(begin, end, path);
  OPENMRC_DCHECK(found != end, "it is in rotation");
  if (found - begin < pass.cursor) --pass.cursor;
  std::move(found + 1, end, found);
  --pass.size;
}

}  // namespace openmrc::core
