"""Arguments of Triton kernels that are memory: NumPy arrays as Triton takes tensors, and tensors as NumPy arrays."""

import ctypes
import math
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.host_memory import Owner
from simtmm.errors import KernelError, shown

Array = npt.NDArray[Any]
BASE = 1 << 40  # where arrays lie, as Triton sees it: what they are views of is aligned as a device's memory is


class ArrayArgument(np.lib.mixins.NDArrayOperatorsMixin):
    """A NumPy array with the methods that Triton, and hooks of its users, call on tensors.

    All else is the array's own: what a hook of autotune or a heuristic reads, sets and computes, too.
    """

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.array, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(each is self for each in options.get("out", ())):
            getattr(ufunc, method)(*map(_plain, inputs), **options | {"out": tuple(map(_plain, options["out"]))})
            return self
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[_plain(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[_plain(key)] = _plain(value)

    def data_ptr(self) -> int:
        """An address with the alignment that the array's has on a device."""
        return BASE + int(self.array.ctypes.data) - Owner.of(self.array).low

    def stride(self, axis: int | None = None) -> Any:
        """Elements from one to the next, of an axis or of all."""
        strides = tuple(each // self.array.itemsize for each in self.array.strides)
        return strides if axis is None else strides[axis]

    def numel(self) -> int:
        """Elements."""
        return int(self.array.size)

    def element_size(self) -> int:
        """Bytes of an element."""
        return int(self.array.itemsize)

    def is_contiguous(self) -> bool:
        """Whether it lies in the order of C."""
        return bool(self.array.flags.c_contiguous)

    def zero_(self) -> "ArrayArgument":
        """Set all of it to 0."""
        self.array[...] = 0
        return self

    def fill_(self, value: Any) -> "ArrayArgument":
        """Set all of it to a value."""
        self.array[...] = value
        return self

    def clone(self) -> "ArrayArgument":
        """A copy."""
        return ArrayArgument(self.array.copy())

    def copy_(self, other: Any) -> "ArrayArgument":
        """Set it to another."""
        self.array[...] = other.array if isinstance(other, ArrayArgument) else other
        return self


def _plain(value: Any) -> Any:
    return value.array if isinstance(value, ArrayArgument) else value


def wrapped(value: Any) -> Any:
    """An argument as Triton takes it. Raises KernelError for an array that no kernel can have."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise KernelError(f"triton: an array of {value.dtype}: must have numbers, not Python objects")
        return ArrayArgument(value)
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is tuple:
        return tuple(wrapped(each) for each in value)
    return value


class Tensors:
    """Memory of tensors of other libraries, of torch's on the CPU say, as NumPy arrays that live as long as they do."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, int], tuple[Array, list[weakref.ref[Any]]]] = {}

    def array(self, tensor: Any, where: str) -> Array:
        """The array that begins where a tensor does. Raises KernelError for what is no memory of this process."""
        if isinstance(tensor, np.ndarray):
            return tensor
        if isinstance(tensor, ArrayArgument):
            return tensor.array
        base = getattr(tensor, "base", None)
        if type(tensor).__name__ == "TensorWrapper" and base is not None:  # of triton.reinterpret
            return self.array(base, where)
        address, (low, size) = int(tensor.data_ptr()), _extent(tensor, where)
        if not size:
            return np.empty(0, np.uint8)
        whole = self._whole(tensor, low, size)
        return whole if address == low else whole.view(np.uint8)[address - low :]

    def _whole(self, tensor: Any, low: int, size: int) -> Array:
        known = self._arrays.get((low, size))
        if known is None:
            memory = (ctypes.c_uint8 * size).from_address(low)
            array: Array = np.ndarray((size,), np.uint8, memoryview(memory)).view(_numpy_type(tensor, size))
            known = self._arrays[low, size] = np.ndarray(array.shape, array.dtype, memoryview(memory)), []
        array, holders = known
        if not any(holder() is tensor for holder in holders):
            # A tensor of another size may lie there once this one is gone
            holders.append(weakref.ref(tensor, lambda gone: self._let_go((low, size), gone)))
        return array

    def _let_go(self, key: tuple[int, int], gone: Any) -> None:
        known = self._arrays.get(key)
        if known is not None:
            known[1].remove(gone)
            if not known[1]:
                del self._arrays[key]


def _extent(tensor: Any, where: str) -> tuple[int, int]:
    """Address and bytes of the memory that a tensor is a view of."""
    device = getattr(getattr(tensor, "device", None), "type", "cpu")
    if hasattr(tensor, "untyped_storage"):
        if getattr(getattr(tensor.untyped_storage(), "device", None), "type", device) not in ("cpu", "cuda"):
            raise KernelError(f"{where} = a tensor on {shown(device)}: must be on the CPU")
        storage = tensor.untyped_storage()
        return int(storage.data_ptr()), int(storage.nbytes())
    size = getattr(tensor, "nbytes", None)
    if size is None and hasattr(tensor, "numel"):
        size = tensor.numel() * tensor.element_size()
    if size is None:
        raise KernelError(f"{where} = {shown(tensor)}: must be a NumPy array or a tensor with nbytes")
    return int(tensor.data_ptr()), int(size)


def _numpy_type(tensor: Any, size: int) -> np.dtype[Any]:
    """The type of a tensor's elements; of bytes where NumPy lacks it."""
    name = str(getattr(tensor, "dtype", "uint8")).rpartition(".")[2]
    names = {"bfloat16": "uint16", "half": "float16", "float": "float32", "double": "float64", "bool": "bool"}
    try:
        kind = np.dtype(names.get(name, name))
    except TypeError:
        kind = np.dtype(np.uint8)
    return kind if kind.itemsize and size % kind.itemsize == 0 and not kind.hasobject else np.dtype(np.uint8)


def elements(shape: tuple[int, ...]) -> int:
    """How many a shape has."""
    return math.prod(shape)
