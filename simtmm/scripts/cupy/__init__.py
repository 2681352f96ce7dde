"""A stand-in for CuPy, over NumPy: kernels of a script are compiled, run on the CPU and recorded.

It is `cupy` for the time of a run (simtmm.scripts.cupy_adapter), and may be imported by its own name, too:
`import simtmm.scripts.cupy as cupy`.
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm.scripts.cupy import cuda as cuda
from simtmm.scripts.cupy import libraries as _libraries
from simtmm.scripts.cupy import random_numbers as _random
from simtmm.scripts.cupy.device_array import ndarray as ndarray
from simtmm.scripts.cupy.elementwise import ElementwiseKernel as ElementwiseKernel
from simtmm.scripts.cupy.functions import Ufunc as _Ufunc
from simtmm.scripts.cupy.functions import counted as _counted
from simtmm.scripts.cupy.functions import function as _function
from simtmm.scripts.cupy.fusion import fuse as fuse
from simtmm.scripts.cupy.memory import get_default_memory_pool as get_default_memory_pool
from simtmm.scripts.cupy.memory import get_default_pinned_memory_pool as get_default_pinned_memory_pool
from simtmm.scripts.cupy.raw import RawKernel as RawKernel
from simtmm.scripts.cupy.raw import RawModule as RawModule
from simtmm.scripts.cupy.reduction import ReductionKernel as ReductionKernel

__version__ = "13.6.0"  # that scripts may ask for: the CuPy whose manual this follows

linalg, fft, testing, polynomial, lib = (
    _libraries.Library(f"cupy.{name}", f"numpy.{name}") for name in ("linalg", "fft", "testing", "polynomial", "lib")
)
random = _random.MODULE
newaxis, pi, e, inf, nan, euler_gamma = None, np.pi, np.e, np.inf, np.nan, np.euler_gamma
ufunc = _Ufunc
_memoized: weakref.WeakSet[Any] = weakref.WeakSet()
bool = np.bool_  # noqa: A001 - CuPy's name


def vectorize(pyfunc: Callable[..., Any], otypes: Any = None, **options: Any) -> Callable[..., Any]:
    """A function of elements, called for each of them on the CPU: CuPy's would translate it."""
    return _counted(np.vectorize(pyfunc, otypes), f"cupy.vectorize({getattr(pyfunc, '__name__', 'function')})")


def memoize(for_each_device: Any = False) -> Callable[..., Any]:
    """A function with cached results. for_each_device: is the same, with one device."""

    def memoized(function: Callable[..., Any]) -> Callable[..., Any]:
        cached = functools.cache(function)
        _memoized.add(cached)
        return cached

    return memoized


def clear_memo() -> None:
    """Forget the results of all functions that `memoize` has made."""
    for cached in _memoized:
        cached.cache_clear()


def is_available() -> Any:
    """There is a device: the simulated one."""
    return True


def show_config(**options: Any) -> None:
    """Say what this is."""
    print(f"CuPy {__version__}'s stand-in of simtmm, over NumPy {np.__version__}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _function(name)
