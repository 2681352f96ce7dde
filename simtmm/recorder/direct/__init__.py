"""Kernels launched directly from Python on NumPy arrays, recorded or not."""
