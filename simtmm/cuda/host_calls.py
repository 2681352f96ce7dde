"""A kernel's calls to the host while it runs: printf, assert, malloc and free of device code."""

import ctypes
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import LANES, LOCAL_WINDOW, SHARED_WINDOW, WARP
from simtmm.cuda.execution.runtime.built_in import BUILT_IN, MOST_ARGUMENTS
from simtmm.cuda.faults import place_text
from simtmm.errors import RecordingError

if TYPE_CHECKING:
    from simtmm.cuda.execution.launches.launch import LaunchState
    from simtmm.cuda.function import KernelFunction

CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_uint32,
    ctypes.c_void_p, ctypes.c_void_p,
)  # fmt: skip
LONGEST = 1 << 12  # bytes of a string
WIDEST = 1 << 20  # characters of a value: as many bytes as CUDA's buffer of all output has
HEAP_LIMIT = 1 << 23  # bytes that device code may allocate, as CUDA has it
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|t|j|L)?([diouxXcsfFeEgGaAp%])")
_NAMES = {number: name for name, number in BUILT_IN.items()}


class HostCalls:
    """Answers the calls of one launch. An error is stored, and raised when the launch has returned.

    write: takes what is printed.
    """

    def __init__(
        self,
        function: "KernelFunction",
        state: "LaunchState",
        write: Callable[[str], object] | None,
        heap: dict[int, int],
        heap_limit: int,
    ) -> None:
        """heap: bytes of what device code has allocated, by address, in this launch and before."""
        self.function, self.state = function, state
        self._write = write or sys.stdout.write
        self._prints: Counter[int] = Counter()  # by access
        self.error: BaseException | None = None
        self.address = CALLBACK(self._called)  # kept as long as the code may call it
        self._heap, self._heap_limit = heap, heap_limit

    def _called(self, block: int, warp: int, what: int, access: int, mask: int, data: int, result: int) -> int:
        try:
            arguments = _numbers(data, LANES * MOST_ARGUMENTS)
            results = _numbers(result, LANES)
            for lane in range(LANES):
                if mask >> lane & 1:
                    reader = _Reader(self.state, block, warp, lane)
                    given = [int(arguments[number * LANES + lane]) for number in range(MOST_ARGUMENTS)]
                    results[lane] = self._one(_NAMES[what], reader, given, access)
            return 0
        except BaseException as error:  # no exception may cross the compiled code
            self.error = error
            return 1

    def _one(self, name: str, reader: "_Reader", given: list[int], access: int) -> int:
        match name:
            case "vprintf":
                self._prints[access] += 1
                text = formatted(reader.text(given[0]), reader, given[1])
                self._write(text)
                return _arguments(reader.text(given[0]))
            case "__assertfail":
                where, instruction = self.state.program.accesses[access]
                message = f"{reader.text(given[1])}:{given[2] & 0xFFFFFFFF}: assertion `{reader.text(given[0])}` failed"
                raise RecordingError(f"{message}; {place_text(self.function, where, instruction)}")
            case "malloc":
                return self._allocate(given[0])
            case _:
                if given[0]:
                    if given[0] not in self._heap:
                        raise RecordingError(f"free of {hex(given[0])}, which malloc did not return")
                    del self._heap[given[0]]
                    self.state.memory.remove(given[0])
                    self.state.map_memory()
                    self.state.forget()
                return 0

    @property
    def prints(self) -> "Counter[tuple[str, int]]":
        """How often threads have called printf, by file and line."""
        found: Counter[tuple[str, int]] = Counter()
        for access, count in self._prints.items():
            name, instruction = self.state.program.accesses[access]
            linked = self.function.linked
            file, line, _ = linked.place(name, linked.readable_location(name, instruction.location))
            found[file, line] += count
        return found

    def _allocate(self, size: int) -> int:
        if size + sum(self._heap.values()) > self._heap_limit:
            return 0  # as CUDA does: the null pointer
        base = self.state.memory.place(f"malloc of {size} bytes", np.zeros(max(1, size), np.uint8))
        self._heap[base] = size
        self.state.map_memory()
        return base


def _place(kind: Any, address: int, count: int) -> Any:
    """So many of a kind of C's at an address of this process."""
    return (kind * count).from_address(address)


def _numbers(address: int, count: int) -> npt.NDArray[np.uint64]:
    """Numbers of 64 bits there, which may be written to."""
    return np.ctypeslib.as_array(_place(ctypes.c_uint64, address, count))


class _Reader:
    """Memory as a lane sees it, by generic addresses."""

    def __init__(self, state: "LaunchState", block: int, warp: int, lane: int) -> None:
        self._state, self._block, self._lane = state, block, lane
        self._warp: Any = np.ctypeslib.as_array(_place(ctypes.c_uint8, warp, WARP.itemsize)).view(WARP)[0]

    def bytes(self, address: int, size: int) -> bytes:
        """What lies there. Raises RecordingError where nothing does."""
        if address >= LOCAL_WINDOW:
            offset, limit = address - LOCAL_WINDOW, self._state.local_bytes
            base = int(self._warp["local"]) + self._lane * limit
        elif address >= SHARED_WINDOW:
            from simtmm.cuda.execution.layout import BLOCK

            offset, limit = address - SHARED_WINDOW, self._state.shared_bytes
            place = BLOCK.fields["shared"][1]  # type: ignore[index]
            base = ctypes.c_uint64.from_address(self._block + place).value
        else:
            found = self._state.memory.find(address)
            if found is None:
                raise RecordingError(f"address {hex(address)} is not in an array")
            offset, limit, base = address - found.base, found.bytes, found.data.ctypes.data
        if offset + size > limit:
            raise RecordingError(f"{size} bytes at address {hex(address)}: out of bounds")
        return ctypes.string_at(base + offset, size)

    def text(self, address: int) -> str:
        """The string there, up to its end."""
        found = bytearray()
        while len(found) < LONGEST:
            byte = self.bytes(address + len(found), 1)
            if byte == b"\0":
                break
            found += byte
        return found.decode("utf-8", "replace")


def formatted(form: str, reader: Any, address: int) -> str:
    """What printf prints, as this computer's C library has it: CUDA formats on the host, too.

    form: the format. reader: gives the bytes and texts of device memory. address: of the arguments, each aligned to its
    own size.

    Raises RecordingError where a value is to be wider than WIDEST.
    """
    at = address

    def take(kind: str) -> Any:
        nonlocal at
        size = struct.calcsize(kind)
        at = -(-at // size) * size
        found = struct.unpack("<" + kind, reader.bytes(at, size))[0]
        at += size
        return found

    def replace(found: re.Match[str]) -> str:
        flags, width, precision, length, letter = found.groups()
        if letter == "%":
            return "%"
        if width == "*":
            width = str(take("i"))
        if precision == "*":
            precision = str(take("i"))
        if max(abs(int(width or 0)), int(precision or 0)) > WIDEST:
            raise RecordingError(f"printf of {found[0]}: wider than {WIDEST:,} characters")
        way = f"%{flags or ''}{width or ''}{'.' + precision if precision is not None else ''}"
        is_long = length in ("l", "ll", "z", "t", "j")
        match letter:
            case "d" | "i":
                signed = _narrowed(take("q" if is_long else "i"), length, True)
                return _printed(f"{way}ll{letter}", ctypes.c_longlong(signed))
            case "u" | "o" | "x" | "X":
                unsigned = _narrowed(take("Q" if is_long else "I"), length, False)
                return _printed(f"{way}ll{letter}", ctypes.c_ulonglong(unsigned))
            case "c":
                return _printed(f"{way}s", chr(take("i") & 0xFF).encode())
            case "s":
                pointer = take("Q")
                return _printed(f"{way}s", (reader.text(pointer) if pointer else "(null)").encode())
            case "p":
                return _printed(f"{way}p", ctypes.c_void_p(take("Q")))
            case _:
                return _printed(f"{way}{letter}", ctypes.c_double(take("d")))

    return _DIRECTIVE.sub(replace, form)


def _printed(form: str, value: Any) -> str:
    """A value in C's format."""
    way, print_into = form.encode(), _library().snprintf
    length = print_into(None, 0, way, value)
    text = ctypes.create_string_buffer(length + 1)
    print_into(text, length + 1, way, value)
    return text.raw[:length].decode("utf-8", "replace")


@cache
def _library() -> ctypes.CDLL:
    """C's own."""
    library = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
    library.snprintf.argtypes = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p  # and what the format says
    library.snprintf.restype = ctypes.c_int
    return library


def _arguments(form: str) -> int:
    """How many arguments a format takes, which printf gives back."""
    found = [each.groups() for each in _DIRECTIVE.finditer(form) if each[5] != "%"]
    return sum(1 + each[1:3].count("*") for each in found)


def _narrowed(value: int, length: str | None, signed: bool) -> int:
    """What is left of a number in a shorter type."""
    bits = {"h": 16, "hh": 8}.get(length or "", 0)
    if not bits:
        return value
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value
