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
The same program therefore has the same trace on every run, machine and recorder. An imported trace
(simtmm/trace/importers) keeps the addresses that the other tool saw on its device, raw: its arrays are the stretches
that were accessed, and another run may have others. In memory an event is 16 bytes
(EVENT), and what is the same for all events of a block stands once a block (see Batch).

The file's key-value metadata holds one JSON document under METADATA_KEY: schema version, kernel, parameters,
launches, arrays, sites, provenance and a digest of the events. Where only some blocks were recorded it also says which
(Sampling); a trace without that entry is of all blocks.
"""

import enum
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.renamed import LAUNCH_KEYS, with_new_names

VERSION = 1
METADATA_KEY = b"simtmm.trace"
ALIGNMENT = 512  # bytes; CuPy's memory pool hands out multiples of this, so arrays on a GPU lie as densely


class Kind(enum.IntEnum):
    """What an event is; the codes are those of simtmm/recorder/device.cuh."""

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
    SHARED_ARRAY = 10  # a site only: the declaration of an array in shared memory


KINDS = tuple(kind.name.lower() for kind in Kind)

BEYOND = 1 << 62  # addresses and counts of a trace are below it

EVENT = np.dtype([("value", "<u8"), ("thread", "<i4"), ("site", "<u2"), ("kind", "u1"), ("bytes", "u1")], align=False)

Events = npt.NDArray[np.void]


@dataclass(frozen=True)
class TraceLaunch:
    """The shape and the needs of a launch (see simtmm.kernel.Launch)."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers_per_thread: int
    shared_memory_bytes: int

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
class Sampling:
    """Which blocks a trace holds, where not all: of each launch at most `sample_blocks`, spread evenly over its grid.

    All blocks ran. recorded, left_out: blocks of each launch; `sampled_blocks` says which. Whoever counts or simulates
    such a trace sees blocks that do nothing in the others' place.
    """

    sample_blocks: int
    recorded: tuple[int, ...]
    left_out: tuple[int, ...]

    @classmethod
    def of(cls, launches: Sequence[TraceLaunch], sample_blocks: int | None) -> "Sampling | None":
        """What a recording of these launches held and left out; None if it left out nothing."""
        if sample_blocks is None:
            return None
        recorded = tuple(min(launch.blocks, sample_blocks) for launch in launches)
        left_out = tuple(launch.blocks - kept for launch, kept in zip(launches, recorded, strict=True))
        return cls(sample_blocks, recorded, left_out) if any(left_out) else None

    @property
    def warning(self) -> str:
        """What a reader of a result of such a trace must know."""
        left_out, blocks = sum(self.left_out), sum(self.left_out) + sum(self.recorded)
        return f"a sampled trace: {left_out:,} of {blocks:,} blocks were left out, and count as blocks that do nothing"

    def to_dict(self) -> dict[str, Any]:
        """For the JSON of such a result."""
        left_out, recorded = sum(self.left_out), sum(self.recorded)
        return {
            "sample_blocks": self.sample_blocks,
            "recorded": recorded,
            "left_out": left_out,
            "warning": self.warning,
        }


def sampled_blocks(blocks: int, sample_blocks: int | None) -> npt.NDArray[np.int32]:
    """The blocks that are recorded, ascending: the middles of `sample_blocks` equal parts of the grid; all for None.

    The first and the last block are often short or have a border to see to, so that parts' middles stand for a grid
    better than parts' beginnings; blocks at one stride can meet a period of the program, parts of odd sizes less so.
    """
    if sample_blocks is None or sample_blocks >= blocks:
        return np.arange(blocks, dtype=np.int32)
    part = np.arange(sample_blocks, dtype=np.int64)
    return ((2 * part + 1) * blocks // (2 * sample_blocks)).astype(np.int32)


@dataclass(frozen=True)
class TraceInfo:
    """All of a trace but its events.

    digest: a hash of the events, launches and arrays: equal digests, equal behaviour. provenance: versions,
    recorder, source hash, command, and under "warnings" what the recorder doubts. sampling: which blocks were
    recorded, if not all.
    """

    kernel: str
    parameters: dict[str, Any]
    launches: tuple[TraceLaunch, ...]
    arrays: tuple[TraceArray, ...]
    sites: tuple[TraceSite, ...]
    events: int
    digest: str
    provenance: dict[str, Any] = field(default_factory=dict)
    sampling: Sampling | None = None

    @property
    def doubts(self) -> list[str]:
        """Why the recorder doubts that the trace holds all that the kernel did, in words."""
        said = self.provenance.get("warnings")
        return [str(doubt) for doubt in said] if isinstance(said, list) else []

    @property
    def warnings(self) -> list[str]:
        """What a reader of a result of this trace must know: what it leaves out, and what its recorder doubts."""
        return [*([self.sampling.warning] if self.sampling else []), *self.doubts]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        table = {"version": VERSION, **asdict(self)}
        if self.sampling is None:
            del table["sampling"]
        return table

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
                    int(entry["shared_memory_bytes"]),
                )
                for entry in (with_new_names(launch, LAUNCH_KEYS) for launch in table["launches"])
            ),
            arrays=tuple(TraceArray(**{**entry, "shape": tuple(entry["shape"])}) for entry in table["arrays"]),
            sites=tuple(TraceSite(**entry) for entry in table["sites"]),
            events=int(table["events"]),
            digest=str(table["digest"]),
            provenance=dict(table["provenance"]),
            sampling=_sampling(table.get("sampling")),
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

    def of_blocks(self, chosen: npt.NDArray[np.int32]) -> "Batch":
        """Only those of these blocks, which are of one launch."""
        kept = np.isin(self.block, chosen)
        if np.all(kept):
            return self
        counts = np.diff(self.ends, prepend=0)
        events = self.events[np.repeat(kept, counts)]
        return Batch(events, self.launch[kept], self.block[kept], np.cumsum(counts[kept]))


def _sampling(table: Any) -> Sampling | None:
    if table is None:
        return None
    return Sampling(
        int(table["sample_blocks"]),
        tuple(int(blocks) for blocks in table["recorded"]),
        tuple(int(blocks) for blocks in table["left_out"]),
    )


def _three(sizes: Any) -> tuple[int, int, int]:
    x, y, z = (int(size) for size in sizes)
    if min(x, y, z) < 1:
        raise ValueError(f"sizes {sizes}: must be at least 1")
    return x, y, z
