"""A stand-in for cupyx, beside simtmm.scripts.cupy."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from simtmm.scripts.cupy.device_array import MissingError, count, plain, unwrapped
from simtmm.scripts.cupy.elementwise import ElementwiseKernel
from simtmm.scripts.cupy.memory import of_host
from simtmm.scripts.cupyx import jit as jit
from simtmm.scripts.cupyx import profiler as profiler

rsqrt = ElementwiseKernel("T x", "T y", "y = rsqrt(x)", "cupyx_rsqrt")


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    """Add at indices, each as often as it is named."""
    count("cupyx.scatter_add")
    np.add.at(plain(a), unwrapped(slices), unwrapped(value))


def scatter_max(a: Any, slices: Any, value: Any) -> None:
    """Likewise for the largest."""
    count("cupyx.scatter_max")
    np.maximum.at(plain(a), unwrapped(slices), unwrapped(value))


def scatter_min(a: Any, slices: Any, value: Any) -> None:
    """Likewise for the smallest."""
    count("cupyx.scatter_min")
    np.minimum.at(plain(a), unwrapped(slices), unwrapped(value))


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """An array of the host."""
    return of_host(np.empty(shape, dtype, order))


def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """An array of the host."""
    return of_host(np.zeros(shape, dtype, order))


def empty_like_pinned(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> Any:
    """An array of the host. Raises TypeError for a `subok`, as CuPy does."""
    _refuse(subok)
    return of_host(np.empty_like(plain(a), dtype, order, shape=shape))


def zeros_like_pinned(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> Any:
    """An array of the host. Raises TypeError for a `subok`, as CuPy does."""
    _refuse(subok)
    return of_host(np.zeros_like(plain(a), dtype, order, shape=shape))


def _refuse(subok: Any) -> None:
    if subok is not None:
        raise TypeError("subok is not supported yet")


@contextlib.contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Taken, and without effect."""
    yield


@contextlib.contextmanager
def errstate(**options: Any) -> Iterator[None]:
    """Taken, and without effect."""
    yield


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingError(f"cupyx.{name}: is not supported by simtmm's stand-in for CuPy")
