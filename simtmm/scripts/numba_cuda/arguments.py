"""Arguments of a Numba kernel on their way to the device: host arrays copied there and back, pointers with types."""

import contextlib
import functools
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from simtmm.device.host import IN, OUT
from simtmm.recorder.direct import current
from simtmm.recorder.direct.calls import ALLOCATE, ALLOCATIONS
from simtmm.scripts.device_blocks import DeviceBlocks


class Pointer(int):
    """An address of the device. dtype, shape: of the array that lies there."""

    dtype: Any
    shape: tuple[int, ...]

    def __new__(cls, address: int, dtype: Any, shape: tuple[int, ...]) -> "Pointer":
        """An address as a number, with what lies there."""
        pointer = super().__new__(cls, address)
        pointer.dtype, pointer.shape = np.dtype(dtype), tuple(shape)
        return pointer


def described(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, size: int) -> Any:
    """An array on the device as kernels take it: what numba-cuda reads of cuda.core's StridedMemoryView."""
    layout = SimpleNamespace(strides_in_bytes=strides, is_contiguous_c=True, is_contiguous_f=True)  # of no strides
    return SimpleNamespace(ptr=Pointer(address, dtype, shape), shape=shape, dtype=dtype, size=size, _layout=layout)


class Copies:
    """Host arrays on the device for as long as a launch takes."""

    def __init__(self, blocks: DeviceBlocks, is_device_memory: Any) -> None:
        self._blocks, self._is_device_memory = blocks, is_device_memory

    def to_device(self, value: Any, after: list[Any], copies_in: bool, copies_out: bool) -> Any:
        """What a kernel takes for a value.

        after: functions that are called once the launch has ended.
        """
        if self._is_device_memory(value):
            after.append(lambda: value)  # lives as long as the launch
            address = int(value.device_ctypes_pointer.value or 0)
            return described(address, value.shape, value.strides, value.dtype, value.size)
        interface = getattr(value, "__cuda_array_interface__", None)
        host = np.asanyarray(value) if interface is None else _viewed(interface, value)
        if interface is not None and host.nbytes:
            adopted = adopt(self._blocks, host)
            after.append(lambda: adopted.free() if adopted else value)  # lives as long as the launch
            return described(interface["data"][0], host.shape, host.strides, host.dtype, host.size)
        # As it lies where it lies without gaps, and without gaps where not: kernels receive the strides
        held = np.copy(host, order="K", subok=False)
        address = self._blocks.allocate(held.nbytes) if held.nbytes else 0
        if held.nbytes:
            placed = np.ndarray(held.shape, held.dtype, self._blocks.find(address).memory, strides=held.strides)  # type: ignore[union-attr]
            weakref.finalize(placed, self._blocks.free, address)  # with `after`, though the launch fail
            current.allocated(ALLOCATIONS.index(ALLOCATE), held.nbytes)
            if copies_in:
                placed[...] = host
                current.copied(IN, held.nbytes, host=host.ctypes.data)

            def finish() -> None:
                if copies_out:
                    current.copied(OUT, held.nbytes, host=host.ctypes.data)
                if isinstance(value, np.void) and copies_out:  # of which NumPy makes an array that is a copy
                    for name in value.dtype.names or ():
                        value[name] = placed[name]
                elif copies_out and host.flags.writeable:
                    host[...] = placed

            after.append(finish)
        return described(address, host.shape, held.strides, host.dtype, host.size)


class Adopted:
    """Memory of another framework, as CuPy's, while it counts as the device's here. free: ends that."""

    def __init__(self, blocks: DeviceBlocks, array: Any) -> None:
        self.free = weakref.finalize(self, blocks.free, blocks.adopt_owner(array))


def adopt(blocks: DeviceBlocks, array: Any) -> Adopted | None:
    """An array's memory becomes the device's until what is returned is freed or gone; None for what is so already.

    array: a view of it that keeps it there.
    """
    return Adopted(blocks, array) if blocks.find(int(array.ctypes.data)) is None else None


def imported_by(own: Any, blocks: DeviceBlocks) -> Any:
    """`numba.cuda.api.from_cuda_array_interface`: what it makes a device array of lies on the device from then on."""

    @functools.wraps(own)
    def from_interface(desc: Any, owner: Any = None, sync: bool = True) -> Any:
        made = own(desc, owner, sync)
        host = _viewed(desc, owner)
        if host.nbytes:
            made.gpu_data.adopted = adopt(blocks, host)
        return made

    return from_interface


def _viewed(interface: Any, owner: object) -> Any:
    """An array of another framework as NumPy's, where it lies."""
    if isinstance(owner, np.ndarray):
        own = owner.__array_interface__
        if all(own[key] == interface.get(key) for key in ("data", "shape", "strides", "typestr")):
            return owner.view(np.ndarray)  # by which its memory is known to be of one array, whichever view it is
    return np.asarray(SimpleNamespace(__array_interface__={**interface, "version": 3, "owner": owner}))


READERS = ("copy_to_host", "copy_to_device", "__getitem__", "getitem", "__setitem__", "setitem", "transpose")


def readable_later(own: Any, installed: Callable[[], contextlib.AbstractContextManager[None]]) -> Any:
    """The class of device arrays, whose objects can be read when the block that they were created in is over."""

    def again(name: str) -> Any:
        method = getattr(own, name)

        @functools.wraps(method)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            with installed():
                return method(self, *args, **kwargs)

        return run

    return type(own.__name__, (own,), {"__module__": own.__module__, **{name: again(name) for name in READERS}})
