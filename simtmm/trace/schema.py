"""What a trace holds: events of threads, the launches and arrays they belong to, and the sites they come from.

An event is one thing one thread did. Events are ordered by launch, then block, then thread, then time. On disk
(Parquet) a trace has one row an event:

    column   dtype    unit    meaning
    launch   int32            the launch, from 0
    block    int32            the block within the launch: x + grid.x * (y + grid.y * z)
    thread   int32            the thread within the block, numbered likewise
    site     uint16           the place in the kernel's source, an index of the site table
    kind     uint8            what it was, an index of KINDS
    bytes    uint8    bytes   how much an access moved; 0 for what is no access
    value    uint64           load, async, store, atomic: the address in bytes, virtual;
                              shared_load, shared_store, shared_atomic: the site at which the array is declared
                              in the upper 32 bits, the byte offset within it in the lower;
                              work: the number of operations; join: how many of the latest asyncs are left out;
                              barrier: 0

Virtual addresses: the arrays of a program lie one after another, in the order of their registration, the first at
ALIGNMENT, each other one at the next multiple of it behind the end of the one before, with a gap of a byte at least.
The same program therefore has the same trace on every run, machine and recorder. In memory an event is 16 bytes
(EVENT), and what is the same for all events of a block stands once a block (see Batch).

The file's key-value metadata holds one JSON document under METADATA_KEY: schema version, kernel, parameters,
launches, arrays, sites, provenance and a digest of the events.
"""

import enum
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

VERSION = 1
METADATA_KEY = b"simtmm.trace"
ALIGNMENT = 512  # bytes; CuPy's memory pool hands out multiples of this, so arrays on a GPU lie as densely


class Kind(enum.IntEnum):
    """What an event is; the codes are those of simtmm/record/device.cuh."""

    WORK = 0
    LOAD = 1
    ASYNC = 2
    STORE = 3
    ATOMIC = 4
    SHARED_LOAD = 5
    SHARED_STORE = 6
    SHARED_ATOMIC = 7
    JOIN = 8
    BARRIER = 9
    SHARED_ARRAY = 10  # a site only: the declaration of a local array


KINDS = tuple(kind.name.lower() for kind in Kind)

EVENT = np.dtype([("value", "<u8"), ("thread", "<i4"), ("site", "<u2"), ("kind", "u1"), ("bytes", "u1")], align=False)

Events = npt.NDArray[np.void]


@dataclass(frozen=True)
class TraceLaunch:
    """The shape and the needs of a launch (see simtmm.kernel.Launch)."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers_per_thread: int
    local_memory_bytes: int

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]


@dataclass(frozen=True)
class TraceArray:
    """An array of global memory: its name, virtual address and size in bytes, and what it holds."""

    name: str
    base: int
    bytes: int
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class TraceSite:
    """A place in the kernel's source: its number, kind, file, line and the text of that line."""

    site: int
    kind: str
    file: str
    line: int
    source: str


@dataclass(frozen=True)
class TraceInfo:
    """All of a trace but its events.

    digest: a hash of the events, launches and arrays: equal digests, equal behaviour. provenance: versions,
    recorder, source hash, command.
    """

    kernel: str
    parameters: dict[str, Any]
    launches: tuple[TraceLaunch, ...]
    arrays: tuple[TraceArray, ...]
    sites: tuple[TraceSite, ...]
    events: int
    digest: str
    provenance: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> "TraceInfo":
        """From `to_dict`'s form. Raises KeyError, TypeError or ValueError where it is not of that form."""
        if table["version"] != VERSION:
            raise ValueError(f"schema version {table['version']}, this simtmm reads {VERSION}")
        return cls(
            kernel=str(table["kernel"]),
            parameters=dict(table["parameters"]),
            launches=tuple(
                TraceLaunch(
                    str(entry["kernel"]),
                    _three(entry["grid"]),
                    _three(entry["block"]),
                    int(entry["registers_per_thread"]),
                    int(entry["local_memory_bytes"]),
                )
                for entry in table["launches"]
            ),
            arrays=tuple(TraceArray(**{**entry, "shape": tuple(entry["shape"])}) for entry in table["arrays"]),
            sites=tuple(TraceSite(**entry) for entry in table["sites"]),
            events=int(table["events"]),
            digest=str(table["digest"]),
            provenance=dict(table["provenance"]),
        )


@dataclass(frozen=True, eq=False)
class Batch:
    """Events of whole blocks, in order; a row group of the file.

    events: EVENT[n]. launch, block: int32[blocks]. ends: int64[blocks], the events up to and with that block's.
    Blocks without events may be left out.
    """

    events: Events
    launch: npt.NDArray[np.int32]
    block: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int64]


def _three(sizes: Any) -> tuple[int, int, int]:
    x, y, z = (int(size) for size in sizes)
    if min(x, y, z) < 1:
        raise ValueError(f"sizes {sizes}: must be at least 1")
    return x, y, z
