"""Unmodified Python scripts, recorded: what they launch through CuPy, Numba CUDA and Triton, without a GPU."""
