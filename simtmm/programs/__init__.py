"""CUDA C++ programs as they are, main and launches included: compiled, and run with a CUDA runtime of ours."""
