"""CUDA's own mathematical functions, run by the interpreter, are as near to exact ones as CUDA documents them to be.

Hundreds of instructions stand behind each value: one that means something else shows.
"""

import mpmath
import numpy as np
import pytest

from tests.cuda.interpreter.test_launches import cuda, needs_nvrtc

# CUDA C++ Programming Guide, "Mathematical Functions": the largest differences [ulp] from the exact result, rounded,
# of double and single precision.
FUNCTIONS = {
    "sin": (mpmath.sin, 2, 2), "cos": (mpmath.cos, 2, 2), "exp": (mpmath.exp, 1, 1), "log": (mpmath.log, 1, 1),
    "erf": (mpmath.erf, 2, 2), "cbrt": (mpmath.cbrt, 1, 1), "tgamma": (mpmath.gamma, 10, 5),
    "tanh": (mpmath.tanh, 1, 2), "sqrt": (mpmath.sqrt, 0, 0), "log1p": (mpmath.log1p, 1, 1),
    "atan": (mpmath.atan, 2, 2),
}  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_functions_are_as_near_as_documented(name, real):
    function, double_ulps, single_ulps = FUNCTIONS[name]
    kind, suffix, ulps = ("double", "", double_ulps) if real is np.float64 else ("float", "f", single_ulps)
    source = f"""extern "C" __global__ void k(const {kind}* x, {kind}* y) {{
      y[threadIdx.x] = {name}{suffix}(x[threadIdx.x]);
    }}"""
    x = np.array([1e-5, 0.1, 0.5, 0.99, 1.0, 1.5, 2.0, 3.3, 5.0, 7.7, 12.0, 20.0], real)
    y = np.zeros(len(x), real)
    cuda(source, 1, len(x), x, y)
    for given, found in zip(x, y, strict=True):
        with mpmath.workprec(200):
            right = real(float(function(mpmath.mpf(float(given)))))
        assert abs(found - right) <= ulps * np.spacing(abs(right)), (given, found, right)
