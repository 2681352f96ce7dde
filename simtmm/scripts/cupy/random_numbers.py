"""cupy.random: NumPy's generators; numbers are others than cuRAND's of the same seed."""

from types import ModuleType
from typing import Any

import numpy as np

from simtmm.scripts import notes
from simtmm.scripts.cupy.device_array import MissingError, count, unwrapped, wrapped

NOTE = "cupy.random: random numbers are NumPy's, which differ from a GPU's with the same seed."
OWN_NUMBERS = {"rand", "randn", "random", "random_sample", "ranf", "sample", "uniform", "normal", "standard_normal",
               "exponential", "standard_exponential", "gamma", "standard_gamma", "beta", "lognormal", "laplace",
               "gumbel", "logistic", "rayleigh", "chisquare", "standard_t", "weibull", "pareto"}  # fmt: skip


def _call(method: Any, name: str, arguments: Any, options: Any) -> Any:
    count(f"cupy.random.{name}")
    notes.note(NOTE)
    dtype = options.pop("dtype", None) if name in OWN_NUMBERS or name == "poisson" else None
    found = method(*unwrapped(arguments), **unwrapped(options))
    if dtype is not None:
        found = np.asarray(found).astype(dtype)
    if name == "shuffle":
        return None
    return wrapped(np.asarray(found) if isinstance(found, (float, int)) else found)


class _Generator:
    """One of NumPy's, whose methods give arrays of the device."""

    def __init__(self, of_numpy: Any) -> None:
        self._of_numpy = of_numpy

    def seed(self, seed: Any = None) -> None:
        """Begin anew."""
        self._of_numpy.seed(seed)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        method = getattr(self._of_numpy, name, None)
        if method is None:
            raise MissingError(
                f"cupy.random.{name}: is not supported by simtmm's stand-in for CuPy, and NumPy has none"
            )
        return lambda *arguments, **options: _call(method, name, arguments, options)


_global = _Generator(np.random.RandomState())


class Generators(ModuleType):
    """The module."""

    @staticmethod
    def default_rng(seed: Any = None) -> Any:
        """A generator of its own."""
        return _Generator(np.random.default_rng(unwrapped(seed)))

    Generator = default_rng

    @staticmethod
    def RandomState(seed: Any = None, method: Any = None) -> Any:  # noqa: N802 - CuPy's name
        """A generator of the old kind."""
        return _Generator(np.random.RandomState(seed))

    @staticmethod
    def XORWOW(seed: Any = None, **options: Any) -> Any:  # noqa: N802 - CuPy's name
        """A source of bits: NumPy's own in its place."""
        return np.random.PCG64(seed)

    Philox4x3210 = MRG32k3a = XORWOW

    @staticmethod
    def get_random_state() -> Any:
        """The generator of the module's functions."""
        return _global

    @staticmethod
    def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Any:
        """Whole numbers."""
        return _global.randint(unwrapped(low), unwrapped(high), size, dtype)

    @staticmethod
    def random_integers(low: Any, high: Any = None, size: Any = None) -> Any:
        """Whole numbers, the last one too; from 1 on where one end alone is given."""
        low, high = (1, unwrapped(low)) if high is None else (unwrapped(low), unwrapped(high))
        return _global.randint(low, high + 1, size, np.int64)

    def __getattr__(self, name: str) -> Any:
        return getattr(_global, name)


MODULE = Generators("cupy.random")
