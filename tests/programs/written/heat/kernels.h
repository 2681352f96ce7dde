#pragma once
#include <vector>
#include <string>
struct Config { int nx, ny, steps; double alpha; std::string name; };
void launch_step(const double *in, double *out, const Config &c, cudaStream_t s);
double reduce_max(const double *in, int n, cudaStream_t s);
extern __device__ __constant__ double factor;
void set_factor(double f);
void reference(std::vector<double> &a, const Config &c);
