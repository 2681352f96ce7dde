"""A CUDA C++ program from its sources to an executable: nvcc, our CUDA runtime, and what stands for other libraries."""
