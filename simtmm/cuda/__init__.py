"""CUDA kernels as they are: compiled to PTX, and run on the CPU."""
