"""Measurement: times of kernels on a GPU, and times that were measured elsewhere."""
