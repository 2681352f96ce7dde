"""Unmodified CUDA C++ programs, with main and launches: compiled, and run with simtmm's CUDA runtime."""
