"""CUDA C++ as it is: compiled to PTX, and run on the CPU."""
