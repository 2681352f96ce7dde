"""cupy.ndarray: an array of the device, which is the host's memory here, with what CuPy's arrays know of themselves."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from simtmm.cuda.checks.active import unwritten
from simtmm.device.host import IN, OUT
from simtmm.errors import SimtmmError
from simtmm.recorder.direct import current
from simtmm.scripts import notes
from simtmm.scripts.cupy.memory import MemoryPointer
from simtmm.scripts.options import records_elementwise

REDUCED = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
           "logical_or": "any"}  # fmt: skip
NO_KERNEL = {
    "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "empty", "empty_like", "zeros",
    "zeros_like", "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "squeeze",
    "broadcast_to", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d", "ndim", "shape", "size", "isscalar",
    "result_type", "can_cast", "common_type", "promote_types", "min_scalar_type", "may_share_memory", "shares_memory",
    "iscomplexobj", "isrealobj", "flip", "flipud", "fliplr", "rot90", "split", "array_split", "hsplit", "vsplit",
    "dsplit", "diagonal", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "real",
    "imag", "get_printoptions", "set_printoptions", "array_repr", "array_str", "array2string", "broadcast_shapes",
    "unravel_index", "frombuffer", "fromfile", "fromstring", "typename", "base_repr", "binary_repr",
    "format_float_positional", "errstate", "seterr", "geterr", "isfortran", "copyto",
}  # fmt: skip
ACCUMULATED = {"add": "cumsum", "multiply": "cumprod"}


class MissingError(SimtmmError, AttributeError):
    """What CuPy has and this stand-in does not, in one line; hasattr says False."""


class ndarray(np.ndarray):  # noqa: N801 - the name that it has in CuPy
    """An array as kernels take it."""

    def __new__(
        cls,
        shape: Any,
        dtype: Any = float,
        memptr: MemoryPointer | None = None,
        strides: Any = None,
        order: Any = "C",
    ) -> "ndarray":
        """As CuPy's: memptr says where it lies."""
        if memptr is None:
            array = np.ndarray.__new__(cls, shape, dtype, strides=strides, order=order)
            unwritten(array)
            return array
        return np.ndarray.__new__(cls, shape, dtype, memptr.bytes(), 0, strides, order)

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """A copy on the host."""
        if out is None:
            out = np.array(plain(self), order="C" if order == "A" else order)  # type: ignore[call-overload]
        else:
            np.copyto(out, plain(self))
        current.copied(OUT, self.nbytes, host=out.ctypes.data, device=self.ctypes.data)
        return out

    def item(self, *index: Any) -> Any:
        """An element on the host."""
        current.copied(OUT, self.itemsize, device=self.ctypes.data)
        return np.ndarray.item(self, *index)

    def tolist(self) -> Any:
        """All elements on the host."""
        current.copied(OUT, self.nbytes, device=self.ctypes.data)
        return np.ndarray.tolist(self)

    def __bool__(self) -> bool:
        current.copied(OUT, self.itemsize, device=self.ctypes.data)
        return bool(plain(self))

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copy from the host."""
        if not isinstance(arr, np.ndarray) or arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {np.shape(arr)}")
        current.copied(IN, self.nbytes, host=arr.ctypes.data, device=self.ctypes.data)
        np.copyto(plain(self), plain(arr), casting="unsafe")

    @property
    def data(self) -> MemoryPointer:  # type: ignore[override]
        """Where it lies."""
        return MemoryPointer.of(plain(self))

    @property
    def device(self) -> Any:
        """The one there is."""
        from simtmm.scripts.cupy.cuda.device import Device

        return Device(0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What Numba, and whatever else takes arrays of the device, knows of it."""
        own = self.__array_interface__
        return {key: own[key] for key in ("shape", "typestr", "descr", "strides")} | {
            "data": (own["data"][0], False),
            "version": 3,
        }

    @property
    def cstruct(self) -> Any:
        """What CuPy passes to its own C code."""
        raise MissingError("cupy.ndarray.cstruct: is not supported")

    def reduced_view(self, dtype: Any = None) -> "ndarray":
        """A view of as few axes as there can be."""
        found: ndarray = wrapped(self.reshape(-1) if self.flags.c_contiguous else self[...])
        return found

    def scatter_add(self, slices: Any, value: Any) -> None:
        """Add at indices, each as often as it is named."""
        count("cupy.add.at")
        np.add.at(plain(self), unwrapped(slices), unwrapped(value))

    def __getitem__(self, index: Any) -> Any:
        if _is_advanced(index):
            count("cupy.take")
        found = np.ndarray.__getitem__(self, index)
        if isinstance(found, np.ndarray):
            return found
        return np.ndarray.__getitem__(self, (*(index if isinstance(index, tuple) else (index,)), Ellipsis))

    def __setitem__(self, index: Any, value: Any) -> None:
        count("cupy.ndarray.__setitem__")
        np.ndarray.__setitem__(self, index, value)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[number] for number in range(len(self)))

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __repr__(self) -> str:
        return repr(plain(self))

    def __str__(self) -> str:
        return str(plain(self))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        for each in inputs:
            if type(each) is np.ndarray and each.ndim:
                raise TypeError(f"Unsupported type {type(each)}")
        if records_elementwise():
            from simtmm.scripts.cupy.ufuncs import as_kernel

            done = as_kernel(ufunc, method, inputs, options)
            if done is not None:
                return done
        names = {"reduce": REDUCED, "accumulate": ACCUMULATED}.get(method, {})
        dot = "" if method == "__call__" or ufunc.__name__ in names else f".{method}"
        count(f"cupy.{names.get(ufunc.__name__, ufunc.__name__)}{dot}")
        return called(getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function.__name__ not in NO_KERNEL:
            count(f"cupy.{function.__name__}")
        return called(getattr(function, "_implementation", function), arguments, options)


def _method(name: str) -> Callable[..., Any]:
    of_numpy = getattr(np.ndarray, name)

    def method(self: ndarray, *arguments: Any, **options: Any) -> Any:
        if records_elementwise():
            from simtmm.scripts.cupy.ufuncs import reduced

            done = reduced(name, self, arguments, options)
            if done is not None:
                return done
        count(f"cupy.{name}")
        return called(of_numpy, (self, *arguments), options)

    method.__name__, method.__doc__ = name, of_numpy.__doc__
    return method


for _name in (
    "sum", "prod", "mean", "std", "var", "max", "min", "argmax", "argmin", "all", "any", "dot", "cumsum", "cumprod",
    "sort", "argsort", "partition", "argpartition", "round", "clip", "take", "put", "nonzero", "trace", "repeat",
    "searchsorted", "choose", "compress", "conj", "conjugate", "astype", "fill",
):  # fmt: skip
    setattr(ndarray, _name, _method(_name))


def plain(array: Any) -> Any:
    """The same memory as NumPy's array."""
    return array.view(np.ndarray) if isinstance(array, ndarray) else array


def unwrapped(value: Any) -> Any:
    """A value with arrays of NumPy instead of those of the device, as far as it is tuples, lists and dicts."""
    if isinstance(value, ndarray):
        return plain(value)
    if getattr(type(value), "is_held", False):  # of SciPy (simtmm.scripts.cupy.libraries)
        return value.get()
    if type(value) in (tuple, list):
        return type(value)(unwrapped(each) for each in value)
    if type(value) is dict:
        return {key: unwrapped(each) for key, each in value.items()}
    return value


def wrapped(value: Any) -> Any:
    """A result with arrays of the device instead of NumPy's, and arrays without axes for NumPy's numbers."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, np.ndarray):
        return value.view(ndarray)
    if isinstance(value, np.generic):
        return np.asarray(value).view(ndarray)
    if isinstance(value, tuple):
        parts = [wrapped(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [wrapped(each) for each in value]
    return value


def called(function: Callable[..., Any], arguments: Any, options: Any) -> Any:
    """What a function of NumPy gives for arrays of the device; `out` is given back itself."""
    out = options.get("out")
    found = function(*unwrapped(tuple(arguments)), **unwrapped(dict(options)))
    if isinstance(out, tuple):
        out = out[0] if len(out) == 1 else None
    return out if isinstance(out, ndarray) and found is not None else wrapped(found)


def count(operation: str) -> None:
    """An operation that CuPy runs as kernels of its own was run in NumPy."""
    notes.unrecorded(operation)


def _is_advanced(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, (list, np.ndarray)) and np.ndim(part) > 0 for part in parts)
