"""The header of an Accel-Sim kernel trace. It can hold nonsense, so each value is looked at."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simtmm.machine.addresses import LARGEST_GLOBAL
from simtmm.trace.importers.chosen import MOST_REGISTERS
from simtmm.trace.importers.reading import Advance, DamagedError, Text, blocks
from simtmm.trace.importers.warps import MOST_THREADS, WINDOW

MOST_HEADER = 1 << 18  # bytes; names of kernels have some thousand at most
OLDEST, NEWEST, MOST_VERSION = 2, 5, 99  # a header without a version is of before they were written down
OVERRIDE = " (--registers N replaces it)"

_THREE = re.compile(r"\(\s*([0-9]{1,10})\s*,\s*([0-9]{1,10})\s*,\s*([0-9]{1,10})\s*\)")


@dataclass
class Header:
    """The header of a kernel trace. Sizes in bytes; the bases are 0 where there is no such window."""

    path: Path
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    registers: int
    version: int
    lineinfo: bool
    shared_base: int
    local_base: int
    tracer: str
    doubts: tuple[str, ...] = ()  # what a reader of a result must know

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def words_before_pc(self) -> int:
        """Words of an instruction line that stand before the program counter."""
        return 4 * (self.version < 3) + self.lineinfo


def open_kernel(
    path: Path, advance: Advance, registers: int | None = None
) -> tuple[Header, Iterator[tuple[Text, int]]]:
    """The header of a kernel's file, and what follows it. Raises TraceError.

    registers: of a thread, instead of what the header says.
    """
    text = blocks(path, advance)
    values: dict[str, tuple[str, int]] = {}
    last = 1
    length = 0
    for piece, first in text:
        position = 0
        last = first
        whole = piece.tobytes()
        while position < len(piece):
            stop = whole.index(b"\n", position) + 1
            line = whole[position:stop].decode("utf-8", "backslashreplace").strip()
            if line.startswith("#BEGIN_TB"):
                stop = position
            if line.startswith(("#BEGIN_TB", "#traces format")):
                header = _header(path, values, last, registers)
                rest = [(piece[stop:], last + (stop > position))] if stop < len(piece) else []
                return header, itertools.chain(rest, text)
            if line.startswith("-"):
                key, equals, value = (part.strip() for part in line[1:].partition("="))
                if not equals or not key:
                    raise DamagedError(path, last, "'-key = value'", line)
                if key in values:
                    raise DamagedError(path, last, f"each key once, not {key!r} again")
                values[key] = value, last
            elif line and not line.startswith("#"):
                raise DamagedError(path, last, "'-key = value' or '#traces format = ...'", line)
            length += stop - position
            if length > MOST_HEADER:
                raise DamagedError(path, last, f"'#traces format = ...' behind a header of at most {MOST_HEADER} bytes")
            position = stop
            last += 1
    raise DamagedError(path, last, "'#traces format = ...' behind the header, not the end of the file")


def _header(path: Path, values: dict[str, tuple[str, int]], end: int, registers: int | None) -> Header:
    def text(key: str) -> tuple[str, int]:
        if key not in values:
            raise DamagedError(path, end, f"a header with '-{key} = ...' before this line")
        return values[key]

    def whole(key: str, least: int, most: int, default: int | None = None, base: int = 10, hint: str = "") -> int:
        if default is not None and key not in values:
            return default
        value, line = text(key)
        digits = re.fullmatch(r"(?:0[xX])?([0-9a-fA-F]{1,16})" if base == 16 else r"([0-9]{1,18})", value)
        if not digits or not least <= int(digits[1], base) <= most:
            number = f"0x{most:x}, hexadecimal" if base == 16 else f"{most:,}"
            raise DamagedError(path, line, f"'{key} =' a number from {least} to {number}{hint}", value)
        return int(digits[1], base)

    def three(key: str, most: int) -> tuple[int, int, int]:
        value, line = text(key)
        found = _THREE.fullmatch(value)
        sizes = tuple(int(size) for size in found.groups()) if found else ()
        if not sizes or min(sizes) < 1 or sizes[0] * sizes[1] * sizes[2] > most:
            raise DamagedError(path, line, f"'{key} =' (x,y,z), each at least 1 and at most {most:,} together", value)
        return sizes[0], sizes[1], sizes[2]

    version = whole("accelsim tracer version", 2, MOST_VERSION, OLDEST)
    doubts = []
    if version > NEWEST:
        doubts.append(f"tracer version {version} is unknown: its lines were read as version {NEWEST}")
    doubts += [
        f"{key} = {value}: blocks of a cluster are placed one by one, and reads of each other's shared memory "
        "count as reads of their own"
        for key, (value, _) in values.items()
        if "cluster" in key and re.search(r"[2-9]|1[0-9]", value)
    ]
    header = Header(
        path=path,
        kernel=text("kernel name")[0],
        grid=three("grid dim", (1 << 31) - 1),
        block=three("block dim", MOST_THREADS),
        shared_bytes=whole("shmem", 0, WINDOW),
        registers=whole("nregs", 0, MOST_REGISTERS, hint=OVERRIDE) if registers is None else registers,
        version=version,
        lineinfo=bool(whole("enable lineinfo", 0, 1, 0)),
        shared_base=whole("shmem base_addr", 0, LARGEST_GLOBAL, 0, 16),
        local_base=whole("local mem base_addr", 0, LARGEST_GLOBAL, 0, 16),
        doubts=tuple(doubts),
        tracer=f"accelsim {version}, nvbit {values.get('nvbit version', ('unknown', 0))[0]}",
    )
    if header.shared_base and header.shared_base == header.local_base:
        value, line = text("local mem base_addr")
        raise DamagedError(path, line, "'local mem base_addr =' another address than shmem's", value)
    return header
