// DCT8x8 with quantisation, half precision, a Sobel filter through textures and surfaces, tex2Dgather apart.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cstdio>
#include <cmath>
#include <vector>
#include <cstdint>
#include <sys/time.h>
#include "helper.h"
#define N 8
__constant__ float DCTv8matrix[64];
__constant__ short Q[64] = {32, 33, 51, 81, 66, 39, 34, 17, 33, 36, 48, 47, 28, 23, 12, 12, 51, 48, 47, 28, 23, 12, 12, 12, 81, 47, 28, 23, 12, 12, 12, 12, 66, 28, 23, 12, 12, 12, 12, 12, 39, 23, 12, 12, 12, 12, 12, 12, 34, 12, 12, 12, 12, 12, 12, 12, 17, 12, 12, 12, 12, 12, 12, 12};
__shared__ float CurBlockLocal1[N * N];
__global__ void CUDAkernel1DCT(float *Dst, int ImgWidth, cudaTextureObject_t TexSrc) {
    __shared__ float CurBlockLocal2[N * N];
    const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y; const float tex_x = (float)((bx << 3) + tx) + 0.5f, tex_y = (float)((by << 3) + ty) + 0.5f;
    CurBlockLocal1[(ty << 3) + tx] = tex2D<float>(TexSrc, tex_x, tex_y); __syncthreads();
    float c = 0; for (int i = 0; i < N; i++) c += DCTv8matrix[(i << 3) + tx] * CurBlockLocal1[(ty << 3) + i]; CurBlockLocal2[(ty << 3) + tx] = c; __syncthreads();
    c = 0; for (int i = 0; i < N; i++) c += CurBlockLocal2[(i << 3) + tx] * DCTv8matrix[(i << 3) + ty]; Dst[((by << 3) + ty) * ImgWidth + (bx << 3) + tx] = c;
}
__global__ void quantise(float *p, int stride) { int i = threadIdx.y * 8 + threadIdx.x; float *at = p + (blockIdx.y * 8 + threadIdx.y) * stride + blockIdx.x * 8 + threadIdx.x; short q = Q[i]; *at = roundf(*at / q) * q; }
__global__ void half_filter(const __half2 *in, __half2 *out, const __nv_bfloat16 *weights, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; __half2 v = in[i], w = __float2half2_rn(__bfloat162float(weights[i & 3])); __half2 r = __hfma2(v, w, __hmul2(v, __float2half2_rn(.5f))); r = __hmax2(r, __float2half2_rn(0.f)); if (__hgt(__low2half(r), __high2half(r))) r = __lowhigh2highlow(r); out[i] = r; }
template <typename T> __global__ void SobelTex(cudaSurfaceObject_t out, cudaTextureObject_t tex, int w, int h, float scale) { for (int y = blockIdx.x; y < h; y += gridDim.x) for (int x = threadIdx.x; x < w; x += blockDim.x) { int v[3][3]; for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) v[dy + 1][dx + 1] = tex2D<T>(tex, (float)x + dx, (float)y + dy); int hor = v[0][2] + 2 * v[1][2] + v[2][2] - v[0][0] - 2 * v[1][0] - v[2][0], ver = v[0][0] + 2 * v[0][1] + v[0][2] - v[2][0] - 2 * v[2][1] - v[2][2]; int s = scale * (abs(hor) + abs(ver)); surf2Dwrite<uchar1>(make_uchar1(s < 0 ? 0 : s > 255 ? 255 : s), out, x, y, cudaBoundaryModeZero); } }
static double stamp() { timeval t; gettimeofday(&t, 0); return t.tv_sec + 1e-6 * t.tv_usec; }
int main(int argc, char **argv) {
    int w = 256, h = 192; bool ok = true; std::vector<uint8_t> image(w * h); for (int i = 0; i < w * h; i++) image[i] = (uint8_t)(128 + 100 * sin(i % w * 0.1) * cos(i / w * 0.07));
    std::vector<float> f(w * h), m(64), got(w * h); for (int i = 0; i < w * h; i++) f[i] = image[i] - 128.f; for (int k = 0; k < 8; k++) for (int i = 0; i < 8; i++) m[i * 8 + k] = (k ? .5f : sqrtf(.125f)) * cosf((2 * i + 1) * k * M_PI / 16);
    checkCudaErrors(cudaMemcpyToSymbol(DCTv8matrix, m.data(), 256)); cudaArray *src; cudaChannelFormatDesc cf = cudaCreateChannelDesc<float>(); checkCudaErrors(cudaMallocArray(&src, &cf, w, h)); checkCudaErrors(cudaMemcpy2DToArray(src, 0, 0, f.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaTextureObject_t tex; cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = src; cudaTextureDesc td = {}; td.normalizedCoords = false; td.filterMode = cudaFilterModeLinear; td.addressMode[0] = td.addressMode[1] = cudaAddressModeWrap; td.readMode = cudaReadModeElementType; checkCudaErrors(cudaCreateTextureObject(&tex, &r, &td, NULL));
    float *d; size_t pitch; checkCudaErrors(cudaMallocPitch((void **)&d, &pitch, w * 4, h)); int stride = pitch / 4; double t = stamp();
    for (int i = 0; i < 10; i++) CUDAkernel1DCT<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(d, stride, tex); checkCudaErrors(cudaDeviceSynchronize()); t = (stamp() - t) / 10; printf("DCT: %.3f us, %.1f MPixels/s\n", 1e6 * t, w * h / t * 1e-6); quantise<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(d, stride); checkCudaErrors(cudaMemcpy2D(got.data(), w * 4, d, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    short q[64]; checkCudaErrors(cudaMemcpyFromSymbol(q, Q, sizeof q)); int off = 0; for (int by = 0; by < h; by += 8) for (int bx = 0; bx < w; bx += 8) for (int v = 0; v < 8; v++) for (int u = 0; u < 8; u++) { double s = 0; for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) s += f[(by + y) * w + bx + x] * m[x * 8 + u] * m[y * 8 + v]; double want = round(s / q[v * 8 + u]) * q[v * 8 + u]; off += fabs(want - got[(by + v) * w + bx + u]) > 1e-2; } printf("off: %d\n", off); ok = ok && off <= 3;
    int n = 4096; std::vector<__half2> hi(n), ho(n); std::vector<__nv_bfloat16> hw(4); for (int i = 0; i < n; i++) hi[i] = __floats2half2_rn(i % 50 - 20, i % 37 - 10); for (int i = 0; i < 4; i++) hw[i] = __float2bfloat16(0.25f * i); __half2 *di, *dout; __nv_bfloat16 *dw; checkCudaErrors(cudaMalloc(&di, n * 4)); checkCudaErrors(cudaMalloc(&dout, n * 4)); checkCudaErrors(cudaMalloc(&dw, 8)); checkCudaErrors(cudaMemcpy(di, hi.data(), n * 4, cudaMemcpyHostToDevice)); checkCudaErrors(cudaMemcpy(dw, hw.data(), 8, cudaMemcpyHostToDevice)); half_filter<<<n / 256, 256>>>(di, dout, dw, n); checkCudaErrors(cudaMemcpy(ho.data(), dout, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) { float k = .25f * (i & 3) + .5f, a = fmaxf(0, k * (i % 50 - 20)), b = fmaxf(0, k * (i % 37 - 10)); float2 g = __half22float2(ho[i]); ok = ok && fabsf(g.x - fminf(a, b)) < .02f && fabsf(g.y - fmaxf(a, b)) < .02f; } printf("half %d\n", ok);
    cudaArray_t a, o; cudaChannelFormatDesc u8 = cudaCreateChannelDesc<unsigned char>(); checkCudaErrors(cudaMallocArray(&a, &u8, w, h)); checkCudaErrors(cudaMallocArray(&o, &u8, w, h, cudaArraySurfaceLoadStore)); checkCudaErrors(cudaMemcpyToArray(a, 0, 0, image.data(), w * h, cudaMemcpyHostToDevice)); r.res.array.array = a; td.filterMode = cudaFilterModePoint; td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp; cudaTextureObject_t t8; checkCudaErrors(cudaCreateTextureObject(&t8, &r, &td, NULL)); r.res.array.array = o; cudaSurfaceObject_t so; checkCudaErrors(cudaCreateSurfaceObject(&so, &r)); SobelTex<unsigned char><<<h, 128>>>(so, t8, w, h, 1.f); std::vector<uint8_t> edges(w * h); checkCudaErrors(cudaMemcpyFromArray(edges.data(), o, 0, 0, w * h, cudaMemcpyDeviceToHost)); long sum = 0; for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { auto p = [&](int i, int j) { i = i < 0 ? 0 : i >= w ? w - 1 : i; j = j < 0 ? 0 : j >= h ? h - 1 : j; return (int)image[j * w + i]; }; int H = p(x + 1, y - 1) + 2 * p(x + 1, y) + p(x + 1, y + 1) - p(x - 1, y - 1) - 2 * p(x - 1, y) - p(x - 1, y + 1), V = p(x - 1, y - 1) + 2 * p(x, y - 1) + p(x + 1, y - 1) - p(x - 1, y + 1) - 2 * p(x, y + 1) - p(x + 1, y + 1); int s = abs(H) + abs(V); ok = ok && edges[y * w + x] == (s > 255 ? 255 : s); sum += s; } printf("edges %ld\n", sum);
    cudaFree(d); cudaFree(di); cudaFree(dout); cudaFree(dw); cudaFreeArray(src); cudaFreeArray(a); cudaFreeArray(o); cudaDeviceReset(); printf("%s\n", ok ? "PASSED" : "FAILED"); return !ok;
}
