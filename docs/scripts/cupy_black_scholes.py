"""Prices of options by Black and Scholes: an elementwise kernel of CuPy's and a kernel in CUDA C++, timed by events."""

import argparse

import cupy as cp
import numpy as np
from scipy.special import erf

ELEMENTWISE = cp.ElementwiseKernel(
    "T s, T x, T t, T r, T v",
    "T call, T put",
    """
    T root = sqrt(t);
    T d1 = (log(s / x) + (r + v * v / 2) * t) / (v * root);
    T d2 = d1 - v * root;
    T first = normcdf(d1), second = normcdf(d2), now = x * exp(-r * t);
    call = s * first - now * second;
    put = now * (1 - second) - s * (1 - first);
    """,
    "black_scholes_elementwise",
)

CODE = r"""
extern "C" __global__
void black_scholes(const float* s, const float* x, const float* t, float* call, float* put, float r, float v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float root = sqrtf(t[i]);
    float d1 = (logf(s[i] / x[i]) + (r + v * v / 2) * t[i]) / (v * root);
    float d2 = d1 - v * root;
    float first = normcdff(d1), second = normcdff(d2), now = x[i] * expf(-r * t[i]);
    call[i] = s[i] * first - now * second;
    put[i] = now * (1 - second) - s[i] * (1 - first);
}
"""


def on_the_host(s, x, t, r, v):
    """With NumPy and SciPy."""
    root = np.sqrt(t)
    d1 = (np.log(s / x) + (r + v * v / 2) * t) / (v * root)
    first, second = (0.5 + 0.5 * erf(d / np.sqrt(2)) for d in (d1, d1 - v * root))
    now = x * np.exp(-r * t)
    return s * first - now * second, now * (1 - second) - s * (1 - first)


def main():
    """Compare both with NumPy, and say how long the kernel takes if it can be said."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--options", type=int, default=20000)
    parser.add_argument("--timed", action="store_true")
    words = parser.parse_args()
    n, r, v = words.options, np.float32(0.02), np.float32(0.3)
    random = np.random.default_rng(0)
    host = [random.uniform(low, high, n).astype(np.float32) for low, high in ((5, 30), (1, 100), (0.25, 10))]
    s, x, t = (cp.asarray(each) for each in host)
    expected = on_the_host(*(each.astype(np.float64) for each in host), float(r), float(v))

    prices = [cp.asnumpy(price) for price in ELEMENTWISE(s, x, t, r, v)]

    kernel = cp.RawKernel(CODE, "black_scholes")
    call, put = cp.empty_like(s), cp.empty_like(s)
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    kernel(((n + 255) // 256,), (256,), (s, x, t, call, put, r, v, np.int32(n)))
    end.record()
    end.synchronize()
    prices += [call.get(), put.get()]
    same = all(np.allclose(*pair, rtol=2e-4, atol=2e-4) for pair in zip(prices, 2 * expected, strict=True))
    print(f"{n} options, whose calls cost {float(call.mean()):.4f} on average; as NumPy prices them: {same}")
    if words.timed:
        print(f"the kernel takes {1e3 * cp.cuda.get_elapsed_time(begin, end):.2f} us")


if __name__ == "__main__":
    main()
