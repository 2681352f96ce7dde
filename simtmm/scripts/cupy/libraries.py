"""cupy.linalg, cupy.fft, cupyx.scipy and their like: those of NumPy and SciPy, for arrays of the device."""

import functools
import importlib
from types import ModuleType
from typing import Any

import numpy as np

from simtmm.scripts.cupy.device_array import MissingError, called, count, unwrapped, wrapped
from simtmm.scripts.cupy.functions import counted


class Library(ModuleType):
    """A module whose functions are those of another, on arrays of the device.

    name: that messages have. of: the module that it stands on.
    """

    def __init__(self, name: str, of: str) -> None:
        super().__init__(name, f"{name}: {of} for arrays of the device.")
        self.__path__: list[str] = []
        self._name, self._of = name, of

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            found = getattr(importlib.import_module(self._of), name)
        except (AttributeError, ImportError):
            raise MissingError(
                f"{self._name}.{name}: is not supported by simtmm's stand-in for CuPy, and {self._of} has none"
            ) from None
        if isinstance(found, ModuleType):
            return Library(f"{self._name}.{name}", f"{self._of}.{name}")
        if isinstance(found, type):
            return _classed(found, f"{self._name}.{name}")
        return _function(found, f"{self._name}.{name}") if callable(found) else found


def _function(of: Any, name: str) -> Any:
    call = counted(of, name, not name.startswith(("cupy.testing.", "cupy.lib.stride_tricks.")))
    return functools.wraps(of)(lambda *arguments, **options: _rewrapped(call(*arguments, **options), name))


@functools.cache
def _classed(of: type, name: str) -> Any:
    if issubclass(of, BaseException):
        return of

    def make(*arguments: Any, **options: Any) -> Any:
        instance = of(*unwrapped(arguments), **unwrapped(options))
        return instance if isinstance(instance, (np.generic, str)) else Held(instance, name)

    make.__name__ = name
    return make


class Held:
    """An object of SciPy, as a sparse matrix, whose methods take and give arrays of the device."""

    is_held = True
    __array_ufunc__ = None  # of two, this one's operators are called

    def __init__(self, held: Any, name: str) -> None:
        self.__dict__.update(_held=held, _name=name)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._held, name)
        if not callable(found):
            return _rewrapped(found, self._name)
        if name == "get":
            return lambda *a, **o: self._held

        def method(*arguments: Any, **options: Any) -> Any:
            count(f"{self._name}.{name}")
            return _rewrapped(called(found, arguments, options), self._name)

        return method

    def get(self, *arguments: Any, **options: Any) -> Any:
        """The host's object."""
        return self._held

    def __repr__(self) -> str:
        return repr(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, key: Any) -> Any:
        return _rewrapped(self._held[unwrapped(key)], self._name)


def _rewrapped(value: Any, name: str) -> Any:
    found = wrapped(value)
    return Held(found, name) if type(found).__module__.startswith("scipy.sparse") else found


def _operator(name: str) -> Any:
    def operate(self: Held, *others: Any) -> Any:
        count(f"{self._name}.{name.strip('_')}")
        return _rewrapped(getattr(self._held, name)(*unwrapped(others)), self._name)

    return operate


for _name in ("matmul", "rmatmul", "mul", "rmul", "add", "radd", "sub", "rsub", "truediv", "neg", "pow"):
    setattr(Held, f"__{_name}__", _operator(f"__{_name}__"))


SCIPY = ("special", "ndimage", "signal", "sparse", "sparse.linalg", "sparse.csgraph", "linalg", "fft", "fftpack",
         "stats", "spatial", "spatial.distance", "interpolate", "integrate", "optimize")  # fmt: skip


def libraries() -> dict[str, ModuleType]:
    """All of them by the names that scripts import."""
    found: dict[str, ModuleType] = {
        "cupy.linalg": Library("cupy.linalg", "numpy.linalg"),
        "cupy.lib": Library("cupy.lib", "numpy.lib"),
        "cupy.lib.stride_tricks": Library("cupy.lib.stride_tricks", "numpy.lib.stride_tricks"),
        "cupy.fft": Library("cupy.fft", "numpy.fft"),
        "cupy.testing": Library("cupy.testing", "numpy.testing"),
        "cupy.polynomial": Library("cupy.polynomial", "numpy.polynomial"),
        "cupyx.scipy": Library("cupyx.scipy", "scipy"),
    }
    for name in SCIPY:
        found[f"cupyx.scipy.{name}"] = Library(f"cupyx.scipy.{name}", f"scipy.{name}")
    return found
