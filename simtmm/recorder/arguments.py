"""Arguments of a launch in the form that a __global__ function takes them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, shown


class ArgumentKind(StrEnum):
    """What an argument is by the function's signature; the letters of signature.cuh and process_cpu.cuh."""

    POINTER = "p"
    SIGNED = "i"
    UNSIGNED = "u"
    FLOAT = "f"
    BOOL = "b"
    STRUCTURE = "s"


class Taken(NamedTuple):
    """An argument as a kernel's signature has it. kind: an ArgumentKind. size: bytes. constant: whether it points to
    const. pointee: kind and bytes of what it points to, as "f4"; "" for what is no pointer.
    """

    kind: str
    size: int
    constant: bool
    pointee: str

    def check_array(self, dtype: npt.DTypeLike, where: str) -> None:
        """Raise KernelError for an array of other numbers than the pointer is to; bytes may be anything."""
        have = np.dtype(dtype)
        kind, size = self.pointee[:1], int(self.pointee[1:] or 0)
        numbers = {"i": "iu", "u": "iu", "f": "f"}  # signs don't matter
        if kind not in numbers or size < 2 or have.fields is not None or have.kind not in "iuf" or have.itemsize < 2:
            return
        if have.itemsize != size or have.kind not in numbers[kind]:
            raise KernelError(f"{where} = an array of {have}: the kernel takes one of {np.dtype(self.pointee)}")


def argument_value(
    argument: Any, kind: str, size: int, bases: Mapping[str, int], origin: int, where: str
) -> npt.NDArray[Any]:
    """One argument in the form the kernel takes: a pointer, or a number of the right width, in an array of one.

    kind: an ArgumentKind.
    size: of the argument [bytes].
    bases: virtual addresses of the arrays.
    origin: the address that virtual address 0 has.
    where: how errors begin.

    Raises KernelError.
    """
    if kind == ArgumentKind.POINTER:
        if not isinstance(argument, str) or argument not in bases:
            raise KernelError(f"{where} = {argument!r}: must be the name of an array: {', '.join(bases)}")
        return np.array([origin + bases[argument]], dtype=np.uint64)
    if kind == ArgumentKind.STRUCTURE:
        raise KernelError(f"{where}: structures can't be passed by value; pass an array of one")
    return np.array([argument], dtype=_checked_number(argument, kind, size, where))


def _checked_number(argument: Any, kind: str, size: int, where: str) -> np.dtype[Any]:
    """The type that a number has as an argument. Raises KernelError where it does not fit it."""
    wanted: np.dtype[Any] = np.dtype(np.bool_) if kind == ArgumentKind.BOOL else np.dtype(f"{kind}{size}")
    if not isinstance(argument, (int, float, np.integer, np.floating, np.bool_)):
        raise KernelError(f"{where} = {shown(argument)}: must be a number ({wanted})")
    if kind == ArgumentKind.FLOAT:
        if np.isfinite(argument) and abs(float(argument)) > float(np.finfo(wanted).max):
            raise KernelError(f"{where} = {argument!r}: does not fit {wanted}")
    elif not np.isfinite(argument) or argument != int(argument):
        raise KernelError(f"{where} = {argument!r}: must be a whole number ({wanted})")
    if kind in (ArgumentKind.SIGNED, ArgumentKind.UNSIGNED):
        limits = np.iinfo(wanted)
        if not limits.min <= int(argument) <= limits.max:
            raise KernelError(f"{where} = {argument!r}: does not fit {wanted}")
    return wanted
