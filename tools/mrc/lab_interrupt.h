// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A lab that is being built or flapped must be left in order, also on Ctrl-C.
namespace openmrc::tools::lab {

// From now on SIGINT, SIGTERM and SIGHUP are remembered instead of ending the program; calls that
// wait return early.
void catch_interrupts();
bool interrupted();

}  // namespace openmrc::tools::lab
