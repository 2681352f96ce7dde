"""Recording what compilers make of a kernel: its PTX, run on the CPU."""
