"""CuPy's array functions: NumPy's on the memory of the device's arrays, counted as what was not recorded."""

import functools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from simtmm.cuda.checks.active import unwritten
from simtmm.device.host import IN
from simtmm.recorder.direct import current
from simtmm.scripts.cupy.device_array import (
    NO_KERNEL,
    MissingError,
    called,
    count,
    ndarray,
    plain,
    unwrapped,
    wrapped,
)
from simtmm.scripts.options import records_elementwise

KINDS = "?bBhHiIlLqQefdFD"  # of numbers that a device has
NOT_OF_CUPY = {
    "ndarray", "matrix", "recarray", "chararray", "memmap", "nditer", "object_", "str_", "bytes_", "datetime64",
    "timedelta64", "ma", "char", "rec", "strings", "ctypeslib", "f2py", "lib", "core", "test", "vectorize", "ufunc",
    "nested_iters", "longdouble", "clongdouble", "float128", "complex256", "void", "testing", "polynomial", "emath",
    "frompyfunc", "flatiter", "typing", "exceptions", "dtypes",
}  # fmt: skip


class Ufunc:
    """A function of elements. nin, nout, name: as NumPy's, whose it is."""

    def __init__(self, of_numpy: Any) -> None:
        self.of_numpy, self.name, self.__name__ = of_numpy, of_numpy.__name__, of_numpy.__name__
        self.nin, self.nout, self.__doc__ = of_numpy.nin, of_numpy.nout, of_numpy.__doc__

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.name}'>"

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Apply the function to each element, on the device."""
        for each in arguments:
            _check_operand(each)
        return wrapped(self.of_numpy(*arguments, **options))

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.of_numpy, name)
        return (lambda *a, **o: wrapped(method(*a, **o))) if callable(method) else method


def _check_operand(value: Any) -> None:
    if type(value) is np.ndarray or isinstance(value, list):
        raise TypeError(f"Unsupported type {type(value)}")


def _checked(array: Any) -> Any:
    if isinstance(array, np.ndarray) and array.dtype.char not in KINDS and array.dtype.kind != "V":
        raise ValueError(f"Unsupported dtype {array.dtype}")
    return wrapped(array)


def _on_device(value: Any) -> Any:
    """A view of an array of another framework that lies on the device, as Numba's; any other value is unchanged."""
    interface = None if isinstance(value, np.ndarray) else getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return value
    return wrapped(np.asarray(SimpleNamespace(__array_interface__={**interface, "version": 3}, owner=value)))


def array(obj: Any, dtype: Any = None, copy: bool = True, order: Any = "K", subok: bool = False, ndmin: int = 0, *,
          blocking: bool = False) -> ndarray:  # fmt: skip
    """A new array of the device."""
    obj = unwrapped(obj) if isinstance(obj, (list, tuple)) else _on_device(obj)
    if isinstance(obj, ndarray) and not copy:
        return asarray(obj, dtype)
    found: ndarray
    found = _checked(np.array(plain(obj), dtype, copy=True, order=order, ndmin=ndmin))
    current.copied(None if isinstance(obj, ndarray) else IN, found.nbytes)
    return found


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    """An array of the device: itself where it is one, a view of another framework's, else a copy."""
    a = _on_device(a)
    if isinstance(a, ndarray) and (dtype is None or a.dtype == np.dtype(dtype)) and order in (None, "K", "A"):
        return a
    return array(a, dtype, order=order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """An array in the order of C: itself where it is one of the device."""
    if isinstance(a, ndarray) and a.flags.c_contiguous and dtype in (None, a.dtype) and a.ndim:
        return a
    found = array(a, dtype, order="C")
    return found if found.ndim else wrapped(found.reshape(1))


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """An array in the order of Fortran: itself where it is one of the device."""
    if isinstance(a, ndarray) and a.flags.f_contiguous and dtype in (None, a.dtype):
        return a
    return array(a, dtype, order="F")


def asnumpy(a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """A copy on the host; an array of the host is returned unchanged."""
    if isinstance(a, ndarray):
        return a.get(order=order, out=out)
    found = np.asarray(a, order=order)
    if out is None:
        return found
    np.copyto(out, found)
    return out


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Of two arrays, by a condition; of one, where it is not zero."""
    if hasattr(condition, "trace") and not isinstance(condition, np.ndarray):  # of a function that is fused
        return np.where(condition, x, y)
    if x is not None and records_elementwise():
        from simtmm.scripts.cupy.ufuncs import chosen

        return chosen(condition, x, y)
    count("cupy.where")
    arguments = (condition,) if x is None else (condition, x, y)
    return called(np.where, arguments, {})


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = None) -> None:
    """Copy elements."""
    np.copyto(plain(dst), plain(src), casting=casting, where=True if where is None else plain(where))


def get_array_module(*arguments: Any) -> Any:
    """cupy where one of them is an array of the device, else numpy."""
    if any(isinstance(each, ndarray) for each in arguments):
        import importlib

        return importlib.import_module("simtmm.scripts.cupy")
    return np


class _Archive:
    """Arrays of the device by the names that a file (.npz) has for them."""

    def __init__(self, of_numpy: Any) -> None:
        self._of_numpy, self.files = of_numpy, of_numpy.files

    def __getitem__(self, name: str) -> Any:
        return array(self._of_numpy[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __enter__(self) -> "_Archive":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._of_numpy.close()


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each element is one of others, along one axis: NumPy has no such name any more."""
    return function("isin")(asarray(ar1).reshape(-1), ar2, assume_unique=assume_unique, invert=invert)


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral by trapezoids: NumPy has it by another name now."""
    of_numpy = getattr(np, "trapezoid", None) or vars(np)["trapz"]
    return counted(of_numpy, "cupy.trapz")(y, x, dx=dx, axis=axis)


def load(file: Any, mmap_mode: Any = None, allow_pickle: Any = None) -> Any:
    """What a file has: an array of the device (.npy), or several by name (.npz)."""
    found = np.load(file, mmap_mode=mmap_mode, allow_pickle=bool(allow_pickle))
    return array(found) if isinstance(found, np.ndarray) else _Archive(found)


OWN: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        array,
        asarray,
        ascontiguousarray,
        asfortranarray,
        asnumpy,
        where,
        copyto,
        get_array_module,
        in1d,
        trapz,
        load,
    )
}
OWN["asanyarray"] = asarray


@functools.cache
def function(name: str) -> Any:
    """What the module has by a name. Raises MissingError for what neither it nor NumPy has."""
    if name in OWN:
        return OWN[name]
    found = getattr(np, name, None) if name not in NOT_OF_CUPY and not name.startswith("_") else None
    if found is None:
        raise MissingError(
            f"cupy.{name}: is not supported by simtmm's stand-in for CuPy, and NumPy has no such function"
        )
    if isinstance(found, np.ufunc):
        return Ufunc(found)
    if isinstance(found, type) or not callable(found):
        return _Grid(found) if name in ("mgrid", "ogrid", "r_", "c_") else found
    return counted(found, f"cupy.{name}", name not in NO_KERNEL)


class _Grid:
    """mgrid and its like."""

    def __init__(self, of_numpy: Any) -> None:
        self._of_numpy = of_numpy

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self._of_numpy[unwrapped(key)])


def counted(of_numpy: Callable[..., Any], name: str, is_kernel: bool = True) -> Callable[..., Any]:
    """A function of NumPy or SciPy for arrays of the device."""

    @functools.wraps(of_numpy)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        bare = name.rpartition(".")[2]
        if records_elementwise() and arguments and isinstance(arguments[0], ndarray):
            from simtmm.scripts.cupy.ufuncs import reduced

            done = reduced(bare, arguments[0], arguments[1:], options)
            if done is not None:
                return done
        if is_kernel:
            count(name)
        for ignored in ("stream", "blocking"):
            options.pop(ignored, None)
        result = _checked_all(called(of_numpy, arguments, options))
        if of_numpy in (np.empty, np.empty_like):
            unwritten(result)
        return result

    return wrapper


def _checked_all(value: Any) -> Any:
    return _checked(value) if isinstance(value, np.ndarray) else value
