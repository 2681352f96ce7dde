"""Micro-kernels: files of CUDA for one unit of a multiprocessor each, and the limit that each runs against."""
