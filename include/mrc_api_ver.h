// SPDX-License-Identifier: BSD-3-Clause
// Versions of the application interface, mrc.h. A version is one number that compares as it should:
// major (8 bits, incompatible), minor (8 bits, additions), subminor (16 bits, fixes).
//
// A program may choose the version that it is written for, before it includes anything of this:
//   #define MRC_API_VER_USED MRC_API_VER(1, 0, 0)
// It then sees what that version has. Without a choice, or with MRC_API_VER_LATEST, it sees all.
#ifndef _MRC_API_VER_H_
#define _MRC_API_VER_H_

#define MRC_API_VER_MAJOR_OFFSET 24
#define MRC_API_VER_MINOR_OFFSET 16
#define MRC_API_VER_SUBMINOR_OFFSET 0

// Unsigned whatever the arguments are: 0xFF << 24 does not fit an int. For #if as well as for code.
#define MRC_API_VER(major, minor, subminor)                                                      \
  (((0u + (major)) << MRC_API_VER_MAJOR_OFFSET) | ((0u + (minor)) << MRC_API_VER_MINOR_OFFSET) | \
   ((0u + (subminor)) << MRC_API_VER_SUBMINOR_OFFSET))

// "Whatever the header has."
#define MRC_API_VER_LATEST MRC_API_VER(0xFFu, 0xFFu, 0xFFFFu)

#define MRC_API_CURRENT_VERSION MRC_API_VER(1u, 0u, 1u)
#define MRC_API_LAST_SUPPORTED_VERSION MRC_API_VER(0u, 0u, 0u)

#ifndef MRC_API_VER_USED
#define MRC_API_VER_USED MRC_API_CURRENT_VERSION
#elif MRC_API_VER_USED == MRC_API_VER_LATEST
#undef MRC_API_VER_USED
#define MRC_API_VER_USED MRC_API_CURRENT_VERSION
#endif

#if MRC_API_VER_USED > MRC_API_CURRENT_VERSION
#error "MRC_API_VER_USED is newer than this header: install a newer one, or ask for less"
#elif MRC_API_VER_USED < MRC_API_LAST_SUPPORTED_VERSION
#error "MRC_API_VER_USED is older than what this header supports"
#elif MRC_API_VER_USED == MRC_API_LAST_SUPPORTED_VERSION
#warning "MRC_API_VER_USED is the oldest supported version: the next header may drop it"
#endif

// The same for what a vendor adds: the meaning of the vendor_cfg bytes.
#define MRC_VENDOR_API_CURRENT_VERSION MRC_API_VER(1u, 0u, 0u)
#define MRC_VENDOR_API_LAST_SUPPORTED_VERSION MRC_API_VER(0u, 0u, 0u)

#ifndef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED MRC_VENDOR_API_CURRENT_VERSION
#elif MRC_VENDOR_API_VER_USED == MRC_API_VER_LATEST
#undef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED MRC_VENDOR_API_CURRENT_VERSION
#endif

#if MRC_VENDOR_API_VER_USED > MRC_VENDOR_API_CURRENT_VERSION
#error "MRC_VENDOR_API_VER_USED is newer than this header: install a newer one, or ask for less"
#elif MRC_VENDOR_API_VER_USED < MRC_VENDOR_API_LAST_SUPPORTED_VERSION
#error "MRC_VENDOR_API_VER_USED is older than what this header supports"
#elif MRC_VENDOR_API_VER_USED == MRC_VENDOR_API_LAST_SUPPORTED_VERSION
#warning "MRC_VENDOR_API_VER_USED is the oldest supported version: the next header may drop it"
#endif

#endif  // _MRC_API_VER_H_
