# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/figures is made of: definitions -> runs -> results -> tables, and the checks."""
