#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include "needle.h"
#include "needle_kernel.cuh"
int blosum62[24][24];
static void make_table() { for (int i = 0; i < 24; i++) for (int j = 0; j < 24; j++) blosum62[i][j] = i == j ? 4 + i % 5 : -((i * 7 + j * 3) % 5); for (int i = 0; i < 24; i++) for (int j = 0; j < i; j++) blosum62[i][j] = blosum62[j][i]; }
int main(int argc, char **argv) {
    printf("WG size of kernel = %d \n", BLOCK_SIZE);
    Options o = parse(argc, argv);
    int max_rows = o.max_rows + 1, max_cols = o.max_cols + 1, penalty = o.penalty;
    std::vector<int> ref(max_rows * max_cols), input(max_rows * max_cols);
    int *output = NULL;
    cudaMallocHost((void **)&output, sizeof(int) * max_rows * max_cols);
    make_table();
    srand(7);
    std::vector<int> a(max_rows), b(max_cols);
    for (int i = 1; i < max_rows; i++) a[i] = rand() % 10 + 1;
    for (int j = 1; j < max_cols; j++) b[j] = rand() % 10 + 1;
    for (int i = 1; i < max_cols; i++) for (int j = 1; j < max_rows; j++) ref[i * max_cols + j] = blosum62[a[i]][b[j]];
    for (int i = 1; i < max_rows; i++) input[i * max_cols] = -i * penalty;
    for (int j = 1; j < max_cols; j++) input[j] = -j * penalty;
    std::vector<int> expected = input;
    int size = max_cols * max_rows;
    int *ref_cuda, *matrix_cuda;
    cudaMalloc((void **)&ref_cuda, sizeof(int) * size);
    cudaMalloc((void **)&matrix_cuda, sizeof(int) * size);
    double total = 0;
    for (int r = 0; r < o.repeat; r++) {
        cudaMemcpy(ref_cuda, ref.data(), sizeof(int) * size, cudaMemcpyHostToDevice);
        cudaMemcpy(matrix_cuda, input.data(), sizeof(int) * size, cudaMemcpyHostToDevice);
        dim3 dimGrid, dimBlock(BLOCK_SIZE, 1);
        int block_width = (max_cols - 1) / BLOCK_SIZE;
        double begin = gettime();
        for (int i = 1; i <= block_width; i++) { dimGrid.x = i; dimGrid.y = 1; needle_cuda_shared_1<<<dimGrid, dimBlock>>>(ref_cuda, matrix_cuda, max_cols, penalty, i, block_width); }
        for (int i = block_width - 1; i >= 1; i--) { dimGrid.x = i; dimGrid.y = 1; needle_cuda_shared_2<<<dimGrid, dimBlock>>>(ref_cuda, matrix_cuda, max_cols, penalty, i, block_width); }
        cudaThreadSynchronize();
        total += gettime() - begin;
        cudaMemcpy(output, matrix_cuda, sizeof(int) * size, cudaMemcpyDeviceToHost);
    }
    printf("kernels %.3f us in each of %d runs\n", 1e6 * total / o.repeat, o.repeat);
    reference(ref, expected, max_rows, max_cols, penalty);
    bool ok = compare(expected, output);
    if (!o.file.empty()) { FILE *f = fopen(o.file.c_str(), "w"); if (!f) { perror(o.file.c_str()); return 2; } for (int i = max_rows - 2, j = max_rows - 2; i >= 0 && j >= 0;) { int t = output[i * max_cols + j]; fprintf(f, "%d ", t); if (!i && !j) break; if (!i) j--; else if (!j) i--; else { int d = output[(i-1)*max_cols+j-1], u = output[(i-1)*max_cols+j], l = output[i*max_cols+j-1]; int m = d > u ? (d > l ? d : l) : (u > l ? u : l); if (m == d) i--, j--; else if (m == l) j--; else i--; } } fclose(f); }
    cudaFree(ref_cuda); cudaFree(matrix_cuda); cudaFreeHost(output);
    cudaDeviceReset();
    printf("%s\n", ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
