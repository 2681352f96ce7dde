"""Sizes of grids and blocks, as documents and command lines have them."""

from typing import Any

from simtmm.errors import KernelError, shown


def sizes_of(value: Any, where: str) -> tuple[int, ...]:
    """One to three sizes, from a number, a list, or a text such as 64x64.

    value: as a document or a command line has it.
    where: file and key, for messages.

    Raises KernelError.
    """
    if isinstance(value, str):
        parts: list[Any] = [
            int(part.strip()) if part.strip().isdecimal() and len(part) < 20 else part
            for part in value.replace(",", "x").split("x")
        ]
    else:
        parts = value if isinstance(value, list) else [value]
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, int) and not isinstance(p, bool) and p >= 1 for p in parts):
        raise KernelError(f"{where} = {shown(value)}: must be one to three sizes of at least 1, such as 64 or 64x64")
    return tuple(parts)
