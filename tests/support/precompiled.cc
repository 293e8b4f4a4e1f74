// SPDX-License-Identifier: BSD-3-Clause
// Nothing: the target of this file is what test programs take their precompiled header from.
