// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What runs for long ends in order, also on Ctrl-C.
namespace openmrc::host {

// From now on SIGINT, SIGTERM and SIGHUP are remembered instead of ending the program; calls that
// wait return early.
enum class SecondInterrupt { kWaits, kKills };  // what is asked for again
void catch_interrupts(SecondInterrupt second = SecondInterrupt::kWaits);
[[nodiscard]] bool interrupted();
// What a program that ends by the first of them exits with, as shells have it: 128 and its number.
[[nodiscard]] int interrupt_exit_code();

}  // namespace openmrc::host
