"""The runtime library as Python calls it, and as it calls Python."""

import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

LOAD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int)
PARAMETERS = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_uint32),
    ctypes.POINTER(ctypes.c_uint32),
)  # fmt: skip
ATTRIBUTES = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64))
LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint32), ctypes.c_uint64, ctypes.c_void_p,
    ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int,
)  # fmt: skip
MARK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64)
WAIT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
ELAPSED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_double))
VARIABLE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64)
)
WAIT_FOR_STREAM = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
QUERY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_uint64)
ADVANCE = ctypes.CFUNCTYPE(None, ctypes.c_int64)
NOW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
COPIED = ctypes.CFUNCTYPE(
    None, ctypes.c_uint64, ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64
)
FILLED = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64)
FETCHED = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int)
TAKEN_BACK = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
ALLOCATED = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_uint64)
DISASSEMBLED = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64), ctypes.c_int
)
FINISH = ctypes.CFUNCTYPE(None, ctypes.c_int)


class Calls(ctypes.Structure):
    """simtmm::Calls of runtime.h."""

    _fields_ = (
        ("load", LOAD), ("parameters", PARAMETERS), ("attributes", ATTRIBUTES), ("launch", LAUNCH),
        ("variable", VARIABLE), ("mark", MARK), ("wait", WAIT), ("wait_for_stream", WAIT_FOR_STREAM), ("query", QUERY),
        ("elapsed", ELAPSED), ("advance", ADVANCE), ("now", NOW), ("copied", COPIED), ("filled", FILLED),
        ("fetched", FETCHED), ("taken_back", TAKEN_BACK), ("allocated", ALLOCATED),
        ("disassembled", DISASSEMBLED), ("finish", FINISH),
    )  # fmt: skip


class Row(ctypes.Structure):
    """A piece of memory: simtmm::Row of memory.cpp."""

    _fields_ = (
        ("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("host", ctypes.c_uint64),
        ("serial", ctypes.c_uint64), ("element", ctypes.c_uint64), ("kind", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
    )  # fmt: skip


class Texture(ctypes.Structure):
    """A texture or a surface: simtmm::Texture of arrays.cpp."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("host", "address", "width", "height", "depth", "pitch", "slice")),
        *(
            (name, ctypes.c_int32)
            for name in ("channels", "bits", "format", "address_x", "address_y", "address_z", "filter", "read_mode",
                         "normalized", "is_surface", "is_layered")
        ),
        ("border", ctypes.c_float * 4),
    )  # fmt: skip


TEXTURE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(Texture))


class Library:
    """The runtime in this process."""

    def __init__(self, path: Path) -> None:
        found = ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
        found.simtmm_heap_limit.restype = ctypes.c_int64
        found.simtmm_place.restype = ctypes.c_char_p
        found.simtmm_version.restype = found.simtmm_allocate.restype = ctypes.c_uint64
        found.simtmm_allocate.argtypes = (
            ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64),
        )  # fmt: skip
        found.simtmm_release.argtypes = (ctypes.c_uint64,)
        found.simtmm_freed.restype = ctypes.c_char_p
        found.simtmm_freed.argtypes = (ctypes.c_uint64, *(2 * (ctypes.POINTER(ctypes.c_uint64),)))
        found.simtmm_rows.argtypes = (ctypes.POINTER(Row), ctypes.c_int)
        found.simtmm_property.argtypes = (ctypes.c_char_p, ctypes.c_int64)
        found.simtmm_print.argtypes = (ctypes.c_char_p, ctypes.c_uint64)
        found.simtmm_written.argtypes = (ctypes.c_uint64,)
        found.simtmm_hash.restype = ctypes.c_uint64
        found.simtmm_became.argtypes = (ctypes.c_uint64, ctypes.c_uint64)
        found.simtmm_hash.argtypes = (ctypes.c_uint64,)
        found.simtmm_run.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
        self._found: Any = found
        self._kept: list[Any] = []

    def begin(self, calls: Calls, make_texture: Callable[..., int]) -> None:
        """Have it call Python from now on."""
        function = TEXTURE(make_texture)
        self._kept += [calls, function]
        self._found.simtmm_textures(function)
        self._found.simtmm_begin(ctypes.byref(calls))

    def tell(self, name: str, value: int) -> None:
        """A number of the machine."""
        self._found.simtmm_property(name.encode(), value)

    def name_device(self, name: str) -> None:
        """What the machine is called."""
        self._found.simtmm_device_name(name.encode())

    @property
    def heap_limit(self) -> int:
        """Bytes that device code may allocate, as the program has it."""
        return int(self._found.simtmm_heap_limit())

    @property
    def place(self) -> str:
        """The line of the call under way, as in "a.cu:9"; "" where that is unknown."""
        return os.fsdecode(self._found.simtmm_place())

    @property
    def version(self) -> int:
        """Of the pieces of memory: another number where they have changed."""
        return int(self._found.simtmm_version())

    def rows(self) -> list[Row]:
        """The pieces of memory, by address."""
        count = self._found.simtmm_rows(None, 0)
        rows = (Row * max(1, count))()
        self._found.simtmm_rows(rows, count)
        return list(rows)[:count]

    def freed(self, address: int) -> tuple[str, int, int] | None:
        """What was freed that had an address: its name and the line that freed it, its address and its size [bytes]."""
        base, size = ctypes.c_uint64(), ctypes.c_uint64()
        name = self._found.simtmm_freed(address, ctypes.byref(base), ctypes.byref(size))
        return None if name is None else (name.decode("utf-8", "replace"), base.value, size.value)

    def hash_at(self, address: int) -> int:
        """What the bytes of a piece are, as a number; 0 where there is none."""
        return int(self._found.simtmm_hash(address))

    def written(self, addresses: Iterable[int]) -> None:
        """Pieces were written here."""
        for address in addresses:
            self._found.simtmm_written(address)

    def became(self, address: int, number: int) -> None:
        """The bytes of a piece have become others, whose number, as of `hash_at`, is known."""
        self._found.simtmm_became(address, number)

    def all_written(self) -> None:
        """A kernel has run, and may have written anywhere."""
        self._found.simtmm_all_written()

    def allocate(self, kind: int, size: int, name: str) -> tuple[int, int]:
        """A piece: the address that kernels have for it, 0 if there is no room, and where it lies in this process."""
        host = ctypes.c_uint64()
        address = self._found.simtmm_allocate(kind, size, name.encode(), ctypes.byref(host))
        return int(address), host.value

    def release(self, address: int) -> None:
        """Take a piece out."""
        self._found.simtmm_release(address)

    def is_managed(self, module: int, name: str) -> bool:
        """Whether a variable may be read by the host, too."""
        return bool(self._found.simtmm_is_managed(module, name.encode()))

    def flush(self) -> None:
        """Have the program's output so far written."""
        self._found.simtmm_flush()

    @property
    def is_stopping(self) -> bool:
        """Whether the program is to end before it does."""
        return bool(self._found.simtmm_is_stopping())

    def stop(self, status: int) -> None:
        """End the program, and this process; does not come back."""
        self._found.simtmm_stop(status)

    def write(self, text: str) -> None:
        """Print what device code prints, in the order of what the program prints."""
        encoded = text.encode()
        self._found.simtmm_print(encoded, len(encoded))

    def run(self, program: Path, words: Sequence[str]) -> None:
        """Call a program's main and end the process as it does; does not come back.

        Raises OSError for a program that can't be loaded.
        """
        self._found.simtmm_before_program()
        loaded = ctypes.CDLL(str(program))
        self._found.simtmm_program_loaded()
        self._kept.append(loaded)
        given = (ctypes.c_char_p * (len(words) + 1))(*(word.encode("utf-8", "surrogateescape") for word in words), None)
        self._found.simtmm_run(
            ctypes.cast(loaded.main, ctypes.c_void_p), len(words), ctypes.cast(given, ctypes.c_void_p)
        )
