"""printf of a device: a format, and values in a buffer, each aligned to its size."""

import re
import struct

from tests.cuda.interpreter.thread import Thread, signed

_CONVERSION = re.compile(r"%([-+ #0]*)(\*|\d+)?(\.(?:\*|\d+))?(hh|h|ll|l|j|z|t)?([diouxXeEfFgGaAcsp%])")


def text_at(thread: Thread, address: int) -> str:
    """The characters at a generic address, up to a zero."""
    held = bytearray()
    while (byte := thread.load("generic", address + len(held), 1)) != 0:
        held.append(byte)
    return held.decode(errors="replace")


def formatted(thread: Thread, text: int, held: int) -> str:
    """The output, given the addresses of the format and of the values."""
    at = held

    def take(size: int) -> int:
        nonlocal at
        at = -(-at // size) * size
        at += size
        return thread.load("generic", at - size, size)

    def convert(found: re.Match[str]) -> str:
        flags, width, precision, length, letter = found.groups(default="")
        if letter == "%":
            return "%"
        if width == "*":
            width = str(signed(take(4), 32))
        if precision == ".*":
            precision = f".{signed(take(4), 32)}"
        specification = f"%{flags}{width}{precision}"
        if letter in "eEfFgGaA":
            value = struct.unpack("<d", take(8).to_bytes(8, "little"))[0]
            return value.hex() if letter in "aA" else (specification + letter) % value
        if letter == "s":
            return (specification + "s") % text_at(thread, take(8))
        if letter == "p":
            return (f"%{flags}{width}s") % f"0x{take(8):x}"
        size = 8 if length in ("l", "ll", "j", "z", "t") else 4
        value = take(size)
        if letter == "c":
            return (specification + "c") % chr(value & 255)
        value &= {"h": 0xFFFF, "hh": 0xFF}.get(length, -1)
        bits = {"h": 16, "hh": 8}.get(length, 8 * size)
        return (specification + ("d" if letter in "diu" else letter)) % (
            signed(value, bits) if letter in "di" else value
        )

    return _CONVERSION.sub(convert, text_at(thread, text))
