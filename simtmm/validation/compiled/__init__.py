"""Kernels in plain CUDA that others timed on a GPU, written anew, and how each of their measured cases is launched."""
