"""Unmodified CUDA kernels, compiled to PTX and run on the CPU."""
