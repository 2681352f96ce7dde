"""What a trace holds: events of threads, the launches and arrays they belong to, and the sites they come from.

An event is one thing one thread did. Events are ordered by launch, then block, then thread, then time. A trace as a
table (`Trace.to_table`) has one row an event:

    column   dtype    unit    meaning
    launch   int32            the launch, from 0
    block    int32            the block within the launch: x + grid.x * (y + grid.y * z)
    thread   int32            the thread within the block, numbered likewise, below MOST_THREADS
    site     uint32           the place in the program, an index of the site table, below MOST_SITES
    kind     uint8            what it was, an index of KINDS
    bytes    uint8    bytes   how much an access moved; 0 for what is no access
    value    uint64           load, async, store, atomic: the address in bytes, virtual;
                              shared_load, shared_store, shared_atomic: the site at which the array is declared
                              in the upper 32 bits, the byte offset within it in the lower, and from PEER_BIT on,
                              of another block's of the cluster, 1 more than the rank of that;
                              local_load, local_store: the byte offset in the thread's own local memory;
                              constant_load, copy: the address in bytes, virtual;
                              mbarrier: what is done there, as the amount of the operation of a workload;
                              product: 0, or COMMIT, or WAIT and how many groups are left out, as named below;
                              work: the number of operations; or, where the site says which instructions these are
                              (TraceSite.work), how often they were done; join: how many of the latest asyncs are
                              left out; barrier: 0

What an event says is done in this order: its thread waits for the values that the site needs, issues the instructions
of the site's work, waits out the site's stall, and then does what the kind says. Only sites of compiled programs say
what they need and do; of all others an event is what its kind says.

Virtual addresses: the arrays of a program lie one after another, in the order of their registration, the first at
ALIGNMENT, each other one at the next multiple of it behind the end of the one before, with a gap of a byte at least.
The same program therefore has the same trace on every run, machine and recorder. An imported trace
(simtmm/trace/importers) keeps the addresses that the other tool saw on its device, raw: its arrays are the stretches
that were accessed, and another run may have others. Local memory is of each thread: where it lies on a machine is
lowering's to say (simtmm/trace/local_memory.py). On its way an event is 16 bytes (EVENT), and what is the same for all
events of a block stands once for each block (see Batch). Runs are stored in memory, lowered, counted and
digested, which hold a block by what its threads have in common (simtmm/trace/runs).

On disk (Parquet) a trace is its runs (columns: simtmm/trace/runs/file.py); in older files its events, as above.

The file's metadata have a JSON document under METADATA_KEY: schema version, kernel, parameters, launches, arrays,
sites, provenance, digest (simtmm/trace/info.py). Version 1 is read too: sites are uint16, and no kind is from
local_load on.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

VERSION = 2
METADATA_KEY = b"simtmm.trace"
ALIGNMENT = 512  # bytes; CuPy's memory pool hands out multiples of this, so arrays on a GPU lie as densely


class Kind(enum.IntEnum):
    """What an event is; the codes up to BARRIER are those of simtmm/recorder/device.cuh."""

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
    LOCAL_LOAD = 11  # of the thread's own memory: what does not fit its registers
    LOCAL_STORE = 12
    CONSTANT_LOAD = 13
    COPY = 14  # what a copy in bulk loads, which an mbarrier is told of
    MBARRIER = 15
    PRODUCT = 16  # of matrices, by a group of warps, and groups of these or of stores in bulk; registers


KINDS = tuple(kind.name.lower() for kind in Kind)

PRODUCT_COMMIT, PRODUCT_WAIT = 1, 2  # of products so far, and of their groups
STORES_COMMIT, STORES_WAIT, REGISTERS = 32, 33, 256  # likewise of stores in bulk; a thread's registers, added to it
MOST_PRODUCT_GROUPS = 8  # that a wait may leave out, and one more

BEYOND = 1 << 62  # addresses and counts of a trace are below it
GRID_WORKSPACE, GRID_WORKSPACE_BYTES = 256, 64  # where the blocks of a grid meet (cooperative groups): below all arrays
PEER_BIT = 24  # of the offset of an access to shared memory
MOST_SITES = 1 << 29  # lowering has numbers above them for threads that wait or are done
MOST_THREADS = 1 << 16  # of a block
MOST_GROUPS = 1 << 8  # of copies that may be under way behind a wait for the others

EVENT = np.dtype([("value", "<u8"), ("site", "<u4"), ("thread", "<u2"), ("kind", "u1"), ("bytes", "u1")], align=False)

WORK_CLASSES = ("fp32", "fp64", "fp16", "integer", "multiply", "special", "tensor", "shared", "local", "control")
"""Classes of instructions: floating point by width, with conversions of doubles; integers and logic and moves; products
of integers; functions such as rsqrt; products of small matrices; instructions of shared memory (shuffles, too) and of
local memory beside the accesses that are events themselves; and branches with what else steers threads."""

RESULT_CLASSES = ("special", "shuffle", "fp64", "tensor")
"""Instructions whose values the machine signals; those of doubles and of products of matrices where it does so."""

FENCES = DEVICE_FENCE, SEQUENTIAL_FENCE, SYSTEM_FENCE = "device", "sequential", "system"
"""Instructions that hold their warp: for the order of the device's threads, of all such fences, of the host as well."""

Events = npt.NDArray[np.void]


def plain(events: Events) -> npt.NDArray[np.complex128]:
    """Events as what NumPy copies at the speed of memory; fields it copies one by one.

    events: EVENT[n].
    """
    return events.view(np.complex128)


@dataclass(frozen=True)
class TraceLaunch:
    """The shape and the needs of a launch (see simtmm.kernel.Launch).

    local_bytes_per_thread: memory of a thread's own beside its registers [bytes]; accesses to it are local_load and
    local_store. spill_bytes_per_thread: of these, what the compiler spilled registers to [bytes]. in_graph: whether it
    follows another launch in a CUDA graph. cluster: how many blocks are one, 1 without: they are numbered by these.
    """

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers_per_thread: int
    shared_memory_bytes: int
    local_bytes_per_thread: int = 0
    spill_bytes_per_thread: int = 0
    in_graph: bool = False
    cluster: int = 1

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
    """An array: its name, virtual address and size in bytes, and what it holds. space: "global" or "constant"."""

    name: str
    base: int
    bytes: int
    dtype: str
    shape: tuple[int, ...]
    space: str = "global"


@dataclass(frozen=True)
class TraceSite:
    """A place in a program: its number, kind, file, line and the text of that line; and the code compiled from it.

    instruction: the text of the compiled instruction, "" if unknown.
    function: the function that it belongs to, "" if unknown.
    inlined: the calls that it was inlined at, (file, line) of each, innermost first.
    work: (class, instructions) that an event of the site issues before its access; classes of WORK_CLASSES, each once.
    needs: numbers of the values that must have arrived before that work begins.
    gives: numbers of the values that the access loads. A value is a whole number of at least 0.
    stall: cycles that an event of the site holds its own warp beyond one for each instruction of its work and for its
        access, before the access; of work that is done several times, each time.
    unused: whether nobody uses the value that an atomic at the site gives: it need not be waited for.
    commits: numbers of values: what the thread has loaded of each so far is a group, committed with the site's work.
    in_flight: of the groups that the thread has committed, so many of the latest may still be on their way when the
        work begins, and all others must have arrived; None where it waits for none.
    sync: of a barrier, whether sites say all that is waited for, so that it waits for no loads of its own.
    results: (class, value, cycles): numbers of values that instructions of the work give and others must wait for, the
        class of the instruction, one of RESULT_CLASSES, and the cycles from its issue to the end of work and stall.
    product: of a product, its columns, and the bytes of shared memory that a warp of the group reads for it.
    cluster: of a barrier, whether it is one of a cluster's blocks: 1, or 2 where it orders memory between them as well.
    fences: (kind, number) of those of FENCES that the work has, kinds each once.
    operand_cycles: (class, cycles) of the work: cycles beyond one each that instructions of the class take to read
        registers, as several of one instruction lie in one bank; classes each once.

    Raises ValueError.
    """

    site: int
    kind: str
    file: str
    line: int
    source: str
    instruction: str = ""
    function: str = ""
    inlined: tuple[tuple[str, int], ...] = ()
    work: tuple[tuple[str, int], ...] = ()
    needs: tuple[int, ...] = ()
    gives: tuple[int, ...] = ()
    stall: int = 0
    unused: bool = False
    commits: tuple[int, ...] = ()
    in_flight: int | None = None
    sync: bool = False
    results: tuple[tuple[str, int, int], ...] = ()
    operand_cycles: tuple[tuple[str, int], ...] = ()
    product: tuple[int, int] = (0, 0)
    cluster: int = 0
    fences: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        counts = dict(self.work)
        if len(counts) < len(self.work) or not all(
            name in WORK_CLASSES and type(count) is int and 1 <= count < 1 << 31 for name, count in counts.items()
        ):
            raise ValueError(
                f"site {self.site}: work = {counts}: must be numbers of instructions from 1 to 2^31 - 1, "
                f"by class: {', '.join(WORK_CLASSES)}"
            )
        for name, values in (("needs", self.needs), ("gives", self.gives), ("commits", self.commits)):
            if not all(type(value) is int and 0 <= value < 1 << 62 for value in values):
                raise ValueError(f"site {self.site}: {name} = {values}: must be whole numbers from 0 to 2^62 - 1")
        if type(self.stall) is not int or not 0 <= self.stall < 1 << 31:
            raise ValueError(f"site {self.site}: stall = {self.stall!r}: must be a whole number from 0 to 2^31 - 1")
        if type(self.unused) is not bool:
            raise ValueError(f"site {self.site}: unused = {self.unused!r}: must be true or false")
        left = self.in_flight
        if left is not None and (type(left) is not int or not 0 <= left < MOST_GROUPS):
            raise ValueError(
                f"site {self.site}: in_flight = {left!r}: must be a whole number from 0 to {MOST_GROUPS - 1}"
            )
        if type(self.sync) is not bool or (self.sync and self.kind != "barrier"):
            raise ValueError(f"site {self.site}: sync = {self.sync!r}: must be true or false, true of barriers alone")
        if not all(
            name in RESULT_CLASSES and type(value) is int and 0 <= value < 1 << 62 and type(cycles) is int
            and 0 <= cycles < 1 << 31
            for name, value, cycles in self.results
        ):  # fmt: skip
            raise ValueError(
                f"site {self.site}: results = {self.results}: must be of a class ({', '.join(RESULT_CLASSES)}), whole "
                f"numbers from 0 to 2^62 - 1, and cycles from 0 to 2^31 - 1"
            )
        if len(self.product) != 2 or not all(type(each) is int and 0 <= each < 1 << 16 for each in self.product):
            raise ValueError(
                f"site {self.site}: product = {self.product}: must be two whole numbers from 0 to 2^16 - 1"
            )
        if self.cluster not in range(3) or (self.cluster and self.kind != "barrier"):
            raise ValueError(f"site {self.site}: cluster = {self.cluster!r}: must be 0, or of barriers 1 or 2")
        _check_fences(self.site, self.fences)
        taken = dict(self.operand_cycles)
        if len(taken) < len(self.operand_cycles) or not all(
            name in counts and type(cycles) is int and 1 <= cycles < 1 << 31 for name, cycles in taken.items()
        ):
            raise ValueError(
                f"site {self.site}: operand_cycles = {taken}: must be cycles from 1 to 2^31 - 1, by classes of its work"
            )

    def to_dict(self) -> dict[str, Any]:
        """For JSON; compiled instructions stand in it only where they are known."""
        known = {"site": self.site, "kind": self.kind, "file": self.file, "line": self.line, "source": self.source}
        entries = {
            "instruction": self.instruction,
            "function": self.function,
            "inlined": [list(call) for call in self.inlined],
            "work": dict(self.work),
            "needs": list(self.needs),
            "gives": list(self.gives),
            "stall": self.stall,
            "unused": self.unused,
            "commits": list(self.commits),
            "sync": self.sync,
            "results": [list(result) for result in self.results],
            "operand_cycles": dict(self.operand_cycles),
            "product": list(self.product) if any(self.product) else [],
            "cluster": self.cluster,
            "fences": dict(self.fences),
        }
        left = {} if self.in_flight is None else {"in_flight": self.in_flight}
        return known | {name: value for name, value in entries.items() if value} | left

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "TraceSite":
        """From `to_dict`'s form.

        table: what `to_dict` gave.

        Raises KeyError, TypeError or ValueError where it is not of that form.
        """
        given = {**table}
        given["inlined"] = tuple((str(file), int(line)) for file, line in given.get("inlined", ()))
        given["work"] = tuple(dict(given.get("work", {})).items())
        given["fences"] = tuple(dict(given.get("fences", {})).items())
        given["operand_cycles"] = tuple(dict(given.get("operand_cycles", {})).items())
        for name in ("needs", "gives", "commits"):
            given[name] = tuple(given.get(name, ()))
        given["product"] = tuple(given.get("product") or (0, 0))
        given["results"] = tuple((str(name), value, cycles) for name, value, cycles in given.get("results", ()))
        return cls(**given)


def _check_fences(site: int, given: tuple[tuple[str, int], ...]) -> None:
    fences = dict(given)
    if len(fences) < len(given) or not all(
        name in FENCES and type(count) is int and 1 <= count < 1 << 31 for name, count in fences.items()
    ):
        raise ValueError(
            f"site {site}: fences = {fences}: must be numbers from 1 to 2^31 - 1, by kind: {', '.join(FENCES)}"
        )


@dataclass(frozen=True, eq=False)
class Batch:
    """Events of whole blocks, in order; a row group of the file.

    events: EVENT[n]. launch, block: int32[blocks]. ends: int64[blocks], the events up to and with that block's.
    Blocks without events may be left out. is_lent: whether the events are gone once the next batch is requested:
    who keeps them has to copy them.

    Only on the way from a recorder to the encoder, a block may stand as how far its values are from those of the last
    block before it that does not, its threads having done the same: an event of the kind runs.layout.DISTANCE for each
    site, the distance its value. spared: how many more events such blocks have.
    """

    events: Events
    launch: npt.NDArray[np.int32]
    block: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int64]
    is_lent: bool = False
    spared: int = 0

    @property
    def count(self) -> int:
        """How many events its blocks have."""
        return len(self.events) + self.spared

    @property
    def bytes(self) -> int:
        """Memory that this takes."""
        return sum(array.nbytes for array in (self.events, self.launch, self.block, self.ends))

    def of_blocks(self, chosen: npt.NDArray[np.int32]) -> "Batch":
        """Only those of these blocks, which are of one launch and stand as their events.

        chosen: int32[chosen blocks], numbers of blocks within their launch.
        """
        kept = np.isin(self.block, chosen)
        if np.all(kept):
            return self
        counts = np.diff(self.ends, prepend=0)
        events = self.events[np.repeat(kept, counts)]
        return Batch(events, self.launch[kept], self.block[kept], np.cumsum(counts[kept]))
