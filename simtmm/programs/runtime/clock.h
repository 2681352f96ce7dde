// The program's clock, as the calls of the runtime move it on.
#pragma once

#include "runtime.h"

namespace simtmm {

// The host does so many of these, whose picoseconds are a property of that name.
void spend(const char *what, int64_t times = 1);

// Work is about to be told to Python's timeline, which the host's own time up to now comes before.
void work_follows();

// Somebody will ask for times: the timeline listens.
void clock_begins();

// ns of the program's steady clock; below 0 where it shows this computer's time.
int64_t steady();

// A library's own reads of the processor's cycles become reads of the program's clock. base: where it lies.
void adopt_cycles(const char *path, uint64_t base);

}  // namespace simtmm
