"""Recording on the CPU: the instrumented C++ build of a kernel, in a process of its own."""
