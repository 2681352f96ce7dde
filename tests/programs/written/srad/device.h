#pragma once
#define fp float
#define NUMBER_THREADS 512
__global__ void extract(long d_Ne, fp *d_I) { int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x; if (ei < d_Ne) d_I[ei] = exp(d_I[ei] / 255); }
__global__ void compress(long d_Ne, fp *d_I) { int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x; if (ei < d_Ne) d_I[ei] = log(d_I[ei]) * 255; }
__global__ void prepare(long d_Ne, fp *d_I, fp *s, fp *s2) { int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x; if (ei < d_Ne) { s[ei] = d_I[ei]; s2[ei] = d_I[ei] * d_I[ei]; } }
__global__ void reduce(long d_Ne, int d_no, int d_mul, fp *d_sums, fp *d_sums2) {
    int bx = blockIdx.x, tx = threadIdx.x; long ei = (long)bx * NUMBER_THREADS + tx;
    __shared__ fp d_psum[NUMBER_THREADS], d_psum2[NUMBER_THREADS];
    bool in = ei < d_no;
    d_psum[tx] = in ? d_sums[ei * d_mul] : 0; d_psum2[tx] = in ? d_sums2[ei * d_mul] : 0;
    __syncthreads();
    for (int i = 2; i <= NUMBER_THREADS; i = 2 * i) { if ((tx + 1) % i == 0) { d_psum[tx] += d_psum[tx - i / 2]; d_psum2[tx] += d_psum2[tx - i / 2]; } __syncthreads(); }
    if (tx == NUMBER_THREADS - 1) { d_sums[(long)bx * d_mul * NUMBER_THREADS] = d_psum[tx]; d_sums2[(long)bx * d_mul * NUMBER_THREADS] = d_psum2[tx]; }
}
__global__ void srad(fp d_lambda, int d_Nr, int d_Nc, long d_Ne, int *d_iN, int *d_iS, int *d_jE, int *d_jW, fp *d_dN, fp *d_dS, fp *d_dE, fp *d_dW, fp d_q0sqr, fp *d_c, fp *d_I) {
    int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x; if (ei >= d_Ne) return;
    int row = (ei + 1) % d_Nr - 1, col = (ei + 1) / d_Nr + 1 - 1; if ((ei + 1) % d_Nr == 0) { row = d_Nr - 1; col = col - 1; }
    fp d_Jc = d_I[ei], N = d_I[d_iN[row] + d_Nr * col] - d_Jc, S = d_I[d_iS[row] + d_Nr * col] - d_Jc, W = d_I[row + d_Nr * d_jW[col]] - d_Jc, E = d_I[row + d_Nr * d_jE[col]] - d_Jc;
    fp G2 = (N * N + S * S + W * W + E * E) / (d_Jc * d_Jc), L = (N + S + W + E) / d_Jc, num = 0.5 * G2 - ((1.0 / 16.0) * (L * L)), den = 1 + (.25 * L), q = num / (den * den);
    den = (q - d_q0sqr) / (d_q0sqr * (1 + d_q0sqr)); fp c = 1.0 / (1.0 + den); if (c < 0) c = 0; else if (c > 1) c = 1;
    d_dN[ei] = N; d_dS[ei] = S; d_dW[ei] = W; d_dE[ei] = E; d_c[ei] = c;
}
__global__ void srad2(fp d_lambda, int d_Nr, int d_Nc, long d_Ne, int *d_iN, int *d_iS, int *d_jE, int *d_jW, fp *d_dN, fp *d_dS, fp *d_dE, fp *d_dW, fp *d_c, fp *d_I) {
    int ei = blockIdx.x * NUMBER_THREADS + threadIdx.x; if (ei >= d_Ne) return;
    int row = ei % d_Nr, col = ei / d_Nr;
    fp cN = d_c[ei], cS = d_c[d_iS[row] + d_Nr * col], cW = d_c[ei], cE = d_c[row + d_Nr * d_jE[col]];
    d_I[ei] = d_I[ei] + 0.25 * d_lambda * (cN * d_dN[ei] + cS * d_dS[ei] + cW * d_dW[ei] + cE * d_dE[ei]);
}
#undef fp
