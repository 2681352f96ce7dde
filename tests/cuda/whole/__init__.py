"""Whole kernels of CUDA C++, drawn, and run as PTX, as machine code, and by a compiler of the host."""
