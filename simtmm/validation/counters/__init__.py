"""Counters of a profiler, counted in the trace of a kernel's machine code, beside those that one counted on a GPU."""
