#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Who reads of openmrc.h finds the CMake target, the name in pkg-config and the standard of C++.

house.install builds the example with what is found here.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main():
    project = (ROOT / "examples/cpp/CMakeLists.txt").read_text(encoding="utf-8")
    target = re.search(r"target_link_libraries\(\w+ PRIVATE (OpenMRC::\w+)\)", project).group(1)
    libraries = (ROOT / "cmake/OpenmrcLibrary.cmake").read_text(encoding="utf-8")
    standard = "C++" + re.search(r"cxx_std_(\d+)", libraries).group(1)
    missing = [f"{document}: does not name {wanted}"
               for document in ("README.md", "docs/guide/cpp.md", "openmrc/openmrc.h")
               for wanted in (target, standard, "pkg-config")
               if wanted not in (ROOT / document).read_text(encoding="utf-8")]
    print("\n".join(missing) or f"{target} and {standard} are named")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
