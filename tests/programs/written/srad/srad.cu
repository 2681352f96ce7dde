// SRAD as in Rodinia (srad_v1): extract, prepare, reduce, srad, srad2, compress, with an image from a file.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
#include <chrono>
#include "device.h"
using fp = float;
#define NUMBER_THREADS 512
static void check(cudaError_t e, const char *file, int line) { if (e != cudaSuccess) { std::cerr << file << ":" << line << ": " << cudaGetErrorName(e) << ": " << cudaGetErrorString(e) << std::endl; std::exit(EXIT_FAILURE); } }
#define CHK(x) check((x), __FILE__, __LINE__)
static bool read_graphics(const std::string &name, std::vector<fp> &image, int &rows, int &cols) {
    std::ifstream in(name);
    if (!in) return false;
    std::string magic, line; in >> magic;
    if (magic != "P2") return false;
    int most; in >> cols >> rows >> most;
    image.resize(size_t(rows) * cols);
    for (int i = 0; i < rows; i++) for (int j = 0; j < cols; j++) { int v; in >> v; image[j * rows + i] = v; }
    return bool(in);
}
static void write_graphics(const std::string &name, const std::vector<fp> &image, int rows, int cols) { std::ofstream out(name); out << "P2\n" << cols << ' ' << rows << "\n255\n"; for (int i = 0; i < rows; i++) { for (int j = 0; j < cols; j++) out << int(image[j * rows + i]) << ' '; out << '\n'; } }
int main(int argc, char *argv[]) {
    if (argc != 5) { std::cout << "ERROR: wrong number of arguments\n"; return 1; }
    int niter = atoi(argv[1]); fp lambda = atof(argv[2]); std::string file = argv[3]; std::string to = argv[4];
    int Nr, Nc; std::vector<fp> image;
    if (!read_graphics(file, image, Nr, Nc)) { // make one
        Nr = 128; Nc = 96; image.resize(Nr * Nc);
        for (int i = 0; i < Nr * Nc; i++) image[i] = (i * 2654435761u >> 24);
        write_graphics(file, image, Nr, Nc);
        if (!read_graphics(file, image, Nr, Nc)) { std::cerr << "cannot read\n"; return 2; }
    }
    long Ne = long(Nr) * Nc;
    std::vector<int> iN(Nr), iS(Nr), jW(Nc), jE(Nc);
    for (int i = 0; i < Nr; i++) iN[i] = i - 1, iS[i] = i + 1;
    for (int j = 0; j < Nc; j++) jW[j] = j - 1, jE[j] = j + 1;
    iN[0] = 0; iS[Nr - 1] = Nr - 1; jW[0] = 0; jE[Nc - 1] = Nc - 1;
    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
    int *d_iN, *d_iS, *d_jW, *d_jE; fp *d_I, *d_dN, *d_dS, *d_dW, *d_dE, *d_c, *d_sums, *d_sums2;
    CHK(cudaMalloc(&d_iN, Nr * 4)); CHK(cudaMalloc(&d_iS, Nr * 4)); CHK(cudaMalloc(&d_jW, Nc * 4)); CHK(cudaMalloc(&d_jE, Nc * 4));
    for (fp **p : {&d_I, &d_dN, &d_dS, &d_dW, &d_dE, &d_c, &d_sums, &d_sums2}) CHK(cudaMalloc(p, Ne * sizeof(fp)));
    CHK(cudaMemcpy(d_iN, iN.data(), Nr * 4, cudaMemcpyHostToDevice)); CHK(cudaMemcpy(d_iS, iS.data(), Nr * 4, cudaMemcpyHostToDevice));
    CHK(cudaMemcpy(d_jW, jW.data(), Nc * 4, cudaMemcpyHostToDevice)); CHK(cudaMemcpy(d_jE, jE.data(), Nc * 4, cudaMemcpyHostToDevice));
    CHK(cudaMemcpy(d_I, image.data(), Ne * sizeof(fp), cudaMemcpyHostToDevice));
    dim3 threads(NUMBER_THREADS), blocks((Ne + NUMBER_THREADS - 1) / NUMBER_THREADS);
    auto t0 = std::chrono::high_resolution_clock::now();
    extract<<<blocks, threads>>>(Ne, d_I);
    for (int iter = 0; iter < niter; iter++) {
        prepare<<<blocks, threads>>>(Ne, d_I, d_sums, d_sums2);
        int blocks2 = blocks.x, no = Ne; int mul = 1;
        while (blocks2 != 0) {
            reduce<<<blocks2, threads>>>(Ne, no, mul, d_sums, d_sums2);
            no = blocks2;
            if (blocks2 == 1) blocks2 = 0;
            else { mul *= NUMBER_THREADS; blocks2 = (blocks2 + NUMBER_THREADS - 1) / NUMBER_THREADS; }
        }
        fp total, total2;
        CHK(cudaMemcpy(&total, d_sums, sizeof(fp), cudaMemcpyDeviceToHost)); CHK(cudaMemcpy(&total2, d_sums2, sizeof(fp), cudaMemcpyDeviceToHost));
        fp mean = total / Ne, var = total2 / Ne - mean * mean, q0sqr = var / (mean * mean);
        srad<<<blocks, threads>>>(lambda, Nr, Nc, Ne, d_iN, d_iS, d_jE, d_jW, d_dN, d_dS, d_dE, d_dW, q0sqr, d_c, d_I);
        srad2<<<blocks, threads>>>(lambda, Nr, Nc, Ne, d_iN, d_iS, d_jE, d_jW, d_dN, d_dS, d_dE, d_dW, d_c, d_I);
    }
    compress<<<blocks, threads>>>(Ne, d_I);
    CHK(cudaPeekAtLastError()); CHK(cudaDeviceSynchronize());
    std::chrono::duration<double, std::milli> took = std::chrono::high_resolution_clock::now() - t0;
    printf("%d iterations: %.3f ms\n", niter, took.count());
    std::vector<fp> got(Ne);
    CHK(cudaMemcpy(got.data(), d_I, Ne * sizeof(fp), cudaMemcpyDeviceToHost));
    // the host
    std::vector<double> I(Ne), dN(Ne), dS(Ne), dW(Ne), dE(Ne), c(Ne);
    for (long i = 0; i < Ne; i++) I[i] = exp(double(image[i]) / 255);
    for (int iter = 0; iter < niter; iter++) {
        double sum = 0, sum2 = 0; for (double v : I) sum += v, sum2 += v * v;
        double mean = sum / Ne, var = sum2 / Ne - mean * mean, q0 = var / (mean * mean);
        for (int j = 0; j < Nc; j++) for (int i = 0; i < Nr; i++) { long k = i + long(Nr) * j; double J = I[k];
            dN[k] = I[iN[i] + (long)Nr * j] - J; dS[k] = I[iS[i] + (long)Nr * j] - J; dW[k] = I[i + (long)Nr * jW[j]] - J; dE[k] = I[i + (long)Nr * jE[j]] - J;
            double G2 = (dN[k]*dN[k] + dS[k]*dS[k] + dW[k]*dW[k] + dE[k]*dE[k]) / (J * J), L = (dN[k] + dS[k] + dW[k] + dE[k]) / J, num = 0.5 * G2 - L * L / 16, den = 1 + .25 * L, q = num / (den * den);
            den = (q - q0) / (q0 * (1 + q0)); c[k] = 1 / (1 + den); c[k] = c[k] < 0 ? 0 : c[k] > 1 ? 1 : c[k]; }
        for (int j = 0; j < Nc; j++) for (int i = 0; i < Nr; i++) { long k = i + long(Nr) * j; double D = c[k] * dN[k] + c[iS[i] + (long)Nr * j] * dS[k] + c[k] * dW[k] + c[i + (long)Nr * jE[j]] * dE[k]; I[k] += .25 * lambda * D; }
    }
    double worst = 0; for (long i = 0; i < Ne; i++) worst = std::max(worst, fabs(log(I[i]) * 255 - got[i]));
    write_graphics(to, got, Nr, Nc);
    printf("worst difference %.5f\n%s\n", worst, worst < 0.5 ? "PASS" : "FAIL");
    return worst < 0.5 ? 0 : 1;
}
