"""Where an array lies in this process."""

import ctypes
from typing import Any

import numpy.typing as npt

_Start = ctypes.c_char * 0  # of what may be written to, which ctypes sees in half the time that NumPy takes to tell


def address_of(array: npt.NDArray[Any]) -> int:
    """The address of the first byte: `array.ctypes.data`, in less time.

    array: of any shape and type, C-contiguous.
    """
    if array.flags.writeable:
        return ctypes.addressof(_Start.from_buffer(array))  # type: ignore[arg-type]
    return int(array.ctypes.data)
