// SPDX-License-Identifier: BSD-3-Clause
// For sources written before September 2025, when `struct mrc_device_attr` was `struct mrc_attr`.
// Build them unchanged with `-include mrc_compat.h`, or with `-Dmrc_attr=mrc_device_attr`. A macro,
// because C has no other way to give a struct a second tag; variables and parameters that are
// called mrc_attr are renamed with it, everywhere alike, which is harmless. It fixes sources only:
// a program compiled with the old header has a smaller struct and other mask bits, so compile it
// anew.
#ifndef _MRC_COMPAT_H_
#define _MRC_COMPAT_H_

#define mrc_attr mrc_device_attr

#endif  // _MRC_COMPAT_H_
