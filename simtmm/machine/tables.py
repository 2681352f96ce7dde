"""The tables of a machine file: their keys, units, meaning, and what is allowed.

The keys are those of docs/machine.md, section 8; `units` lists them all.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from simtmm.machine.values import Banked, Count, Duration, Positive, Shortly, Table, Threads, unit
from simtmm.stalls import CLASSES

LARGEST_SEGMENT = 128  # bytes that serve a half-warp at once (simtmm/trace/coalescing.py)
MOST_SECTORS, MOST_SECTOR_BYTES = 4, 255  # of a chunk, and of one: what a workload has room for


class Cores(Table):
    """The cores: P = groups * cores_per_group of them."""

    groups: Count = unit("core groups", "core groups, P / Q")
    cores_per_group: Count = unit("cores", "cores in a group, Q")
    warp_width: Count = unit("threads", "threads in lockstep, W")
    max_threads_per_core: Threads = unit("threads", "threads a core may hold, X")
    issue_ports: Count | None = unit("ports", "issue ports of a group; left out: max(1, floor(Q / W))", default=None)

    @property
    def threads_per_core(self) -> float:
        """`max_threads_per_core` by its old name."""
        return self.max_threads_per_core


class Scheduling(Table):
    """Who issues when."""

    switch: Literal["on-stall", "every-instruction"] = unit("", "when a warp gives up its port", default="on-stall")
    scheduler: Literal["fifo", "oldest", "greedy-oldest", "round-robin"] = unit(
        "", "which ready warp is granted a port", default="fifo"
    )
    ports: Literal["any", "own"] = unit(
        "", "which ports a warp may be granted: any of its group, or the one of its slot", default="any"
    )
    stalls: Literal["add", "overlap", "none"] = unit(
        "",
        "of compiled instructions: beyond what their pipes take, while they do, or none as on another's machine",
        default="add",
    )
    operands: Literal["free", "banks"] = unit(
        "", "whether a bank of registers takes a cycle for each that it gives a compiled instruction", default="free"
    )
    pipeline_depth: Duration = unit("cycles", "from a grant to the warp's next, every-instruction only", default=1)
    launch_overhead: Duration = unit("cycles", "added for each launch", default=0)
    graph_launch_overhead: Duration | None = unit(
        "cycles", "added for a launch that follows another in a graph; left out: launch_overhead", default=None
    )
    first_launch: Duration = unit("cycles", "added for the first launch of a run", default=0)
    block_launch: Duration = unit("cycles", "from the starting of a warp to its first instruction", default=0)
    block_interval: Duration = unit("cycles", "a group starts its blocks so far apart in the long run", default=0)
    block_burst: Count = unit("blocks", "of which it may start so many at once", default=1)
    warp_launch: Duration = unit("cycles", "from one warp's start to the next one's in the same group", default=0)
    grid_barrier: Duration | None = unit(
        "cycles",
        "from the last block's coming to a grid barrier to what follows; left out: none waits",
        default=None,
    )
    grid_barrier_block: Duration = unit("cycles", "likewise, for each block beyond one on each core group", default=0)
    barrier_latency: Shortly = unit("cycles", "from a barrier's opening to what its warps do next", default=0)
    barrier_interval: Shortly = unit("cycles", "likewise, for each warp of the block", default=0)
    mbarrier_latency: Duration = unit(
        "cycles", "from the last arrival or byte at an mbarrier to what waits for it, a tick at least", default=0
    )
    cluster_latency: Duration = unit("cycles", "from another block of the cluster to an mbarrier", default=0)


class Cache(Table):
    """A cache of chunks, of which the least recently used falls out, unless another rule is given."""

    sets: Count = unit("sets", "sets; a chunk lives in set chunk mod sets")
    ways: Count = unit("chunks", "chunks in a set")
    latency: Duration = unit("cycles", "latency of a hit")

    @property
    def used_sets(self) -> int:
        """Sets that chunks lie in."""
        return self.sets


class GroupCache(Cache):
    """The cache of a group."""

    index: Literal["modulo", "skewed"] = unit(
        "",
        "in which set a chunk lies: chunk mod sets, or one further on for each time that goes round",
        default="modulo",
    )
    local_writes: Literal["through", "back"] = unit(
        "", "whether stores to local memory go by to what lies below or stay", default="through"
    )


class SharedCache(Cache):
    """The cache of all groups: a slice of it stands before each partition of global memory."""

    copies: Count = unit(
        "copies",
        "of each line, in parts of the cache that serve groups of their own: so much less is its room",
        default=1,
    )
    service: Duration = unit("cycles", "a slice is taken this long by a chunk", default=0)
    store_service: Duration | None = unit(
        "cycles", "likewise by a chunk that is stored; service if left out", default=None
    )
    request_service: Duration | None = unit(
        "cycles", "likewise at least, however few sectors are loaded; service if left out", default=None
    )
    store_request_service: Duration | None = unit(
        "cycles", "likewise of those that are stored; service if left out", default=None
    )
    writes: Literal["through", "back"] = unit("", "whether stores go by to global memory or stay", default="through")
    replacement: Literal["lru", "random"] = unit(
        "", "which line of a full set falls out: that used longest ago, or any, as a hash decides", default="lru"
    )
    victims: Literal["posted", "waited"] = unit(
        "", "whether what takes the room of a written line waits until its partition takes that", default="posted"
    )
    start: Literal["cold", "warm", "kept"] = unit(
        "", "empty at a launch, as an earlier run of it left it, or as the launch before it did", default="cold"
    )
    atomics: Literal["through", "here"] = unit(
        "", "whether atomics go by to global memory or are done here", default="through"
    )
    atomic_latency: Duration | None = unit(
        "cycles", "latency of an atomic that is done here; that of a hit if left out", default=None
    )

    @property
    def used_sets(self) -> int:
        """Sets that chunks lie in, each as often as there are copies."""
        return max(1, self.sets // self.copies)


class Rows(Table):
    """The rows of a partition, of which few are open at once, least recently used first to be closed."""

    chunks: Count = unit("chunks", "chunks of a row, within a partition")
    open: Count = unit("rows", "rows of a partition that are open at once")
    opening: Duration = unit("cycles", "a partition that opens a row waits")


class Tlb(Table):
    """The translations of addresses that a group holds, least recently used dropped first."""

    entries: Count = unit("pages", "pages whose translations a group holds")
    page: Count = unit("bytes", "bytes of a page")
    miss: Duration = unit("cycles", "until a page's translation is there")


class GroupPipe(Table):
    """The pipe that accesses of a group's L1 and shared memory pass, whichever issue port they come from."""

    access_interval: Duration = unit("cycles", "the pipe takes an access this often, of a port's warp", default=0)
    tag_interval: Duration = unit("cycles", "a line that a global access lists is looked up this often", default=0)
    interval: Duration = unit("cycles", "a pass of a global access takes the banks this long", default=1)
    lanes: Count | None = unit(
        "threads", "lanes of a global access that are served together; all of a warp's if left out", default=None
    )
    run: Count | None = unit(
        "threads",
        "likewise where they access neighbouring words of 4 bytes in order; `lanes` if left out",
        default=None,
    )
    phase_bytes: Count = unit("bytes", "that lanes served together access at most, where that is fewer", default=128)
    banks: Banked | None = unit(
        "banks",
        "of the L1, each as wide as an access and more of them the wider it is; banks.count if left out",
        default=None,
    )
    fill_interval: Duration = unit(
        "cycles", "a chunk that a load does not find in the L1 comes in this often", default=0
    )
    misses: Count | None = unit(
        "chunks",
        "that loads do not find in the L1, on their way to a group at once; no limit if left out",
        default=None,
    )
    shared: Literal["together", "apart"] = unit(
        "", "whether shared memory passes the same pipe as the L1 or one of its own", default="together"
    )


class Memory(Table):
    """Global memory and what stands before it."""

    latency: Duration = unit("cycles", "latency of global memory, L")
    chunk_words: Count = unit("words", "words in a chunk, C")
    word_bytes: Count = unit("bytes", "bytes in a word", default=4)
    coalescing: Literal["chunk", "half-warp-segments"] = unit(
        "", "which transfers serve the threads of a warp", default="chunk"
    )
    transfers: Literal["pipelined", "serial"] = unit("", "chunks of an instruction overlap or not", default="pipelined")
    ports: Count = unit("ports", "memory ports of a group; a warp uses that of its slot", default=1)
    port_interval: Duration = unit("cycles", "a memory port takes a chunk this often", default=0)
    store_interval: Duration | None = unit(
        "cycles",
        "the port of a group's stores takes a chunk this often; left out: they use memory ports",
        default=None,
    )
    fetch_interval: Duration = unit(
        "cycles", "a group fetches a chunk from global memory this often, for loads and asyncs", default=0
    )
    return_interval: Duration = unit(
        "cycles", "a store waits this long at its port for each chunk that its warp loaded from memory", default=0
    )
    return_delay: Duration = unit(
        "cycles", "a store waits this long at its port where its warp loaded from memory right before", default=0
    )
    port_chunks: Count = unit("chunks", "chunks of an aligned run that pass a port together", default=1)
    sectors: Count = unit("sectors", "of a chunk, by which it moves and caches keep it", default=1)
    fetch_sectors: Count = unit("sectors", "that global memory is read by, an aligned run of a chunk's", default=1)
    partial_writes: Literal["masked", "read"] = unit(
        "", "whether a sector of which only some bytes were written is read before it is written", default="masked"
    )
    pipe: GroupPipe | None = unit("", "what accesses of the L1 and of shared memory pass", default=None)
    partitions: Count = unit("partitions", "partitions of global memory", default=1)
    bandwidth: Positive | None = unit(
        "bytes/s", "what all partitions move; service follows from it, whatever the chunk", default=None
    )
    interleave: Literal["modulo", "hash"] = unit("", "how chunks spread over partitions", default="modulo")
    service: Duration = unit("cycles", "a partition is taken this long by a chunk", default=0)
    atomic_service: Duration = unit(
        "cycles",
        "a partition, or a slice of an L2 that does atomics, is taken this long by an update",
        default=0,
    )
    atomics: Literal["each", "by-word"] = unit(
        "", "which updates of a warp's atomic are served together", default="each"
    )
    store_buffer: Duration = unit(
        "chunks", "a partition may be this far behind before stores wait for it, of `service` each", default=0
    )
    reductions: Literal["blocking", "posted"] = unit(
        "", "whether a warp waits for atomics whose values nobody uses", default="blocking"
    )
    turnaround: Duration = unit("cycles", "a partition that turns from reads to writes or back waits", default=0)
    first_access: Duration = unit("cycles", "a group's first loads in a launch take so much longer", default=0)
    translations: Literal["launch", "run"] = unit(
        "", "whether groups lack translations at the beginning of each launch, or of a run alone", default="launch"
    )
    tlb: Tlb | None = unit("", "translations of a group's addresses", default=None)
    rows: Rows | None = unit("", "the rows of a partition", default=None)
    stores: Literal["blocking", "posted", "at-end"] = unit(
        "", "whether a warp waits for its stores: for each, for none, or for all at its end", default="blocking"
    )
    store_latency: Duration | None = unit("cycles", "latency of a store; L if left out", default=None)
    l1_after_store: Literal["keep", "drop"] = unit(
        "", "what a store or atomic does to its line in the group's L1", default="keep"
    )
    outstanding: Count | None = unit("asyncs", "asyncs in flight for each warp", default=None)
    l1: GroupCache | None = unit("", "the cache of a group", default=None)
    l2: SharedCache | None = unit("", "the cache of all groups", default=None)


class Limits(Table):
    """What a group may hold; no limit where a key is left out."""

    blocks_per_group: Count | None = unit("blocks", "resident blocks of a group", default=None)
    warps_per_group: Count | None = unit("warps", "resident warps of a group, beside floor(X * Q / W)", default=None)


class Resources(Table):
    """What blocks share of a group, for occupancy (dissertation, Table 5.2); no limit where left out."""

    registers: Count | None = unit("32-bit registers", "registers of a group, R", default=None)
    shared_memory: Count | None = unit("bytes", "shared memory of a group, Z", default=None)
    threads_per_block: Count | None = unit("threads", "threads of a block at most, TmaxB", default=None)
    register_unit: Count | None = unit(
        "32-bit registers", "a warp gets whole units of so many; each thread just its own if left out", default=None
    )
    register_files: Count | None = unit(
        "register files",
        "equal parts of a group's registers, of which a warp's lie in one; 1 if left out",
        default=None,
    )
    shared_memory_unit: Count | None = unit(
        "bytes", "a block gets whole units of shared memory of so many; 1 if left out", default=None
    )
    shared_memory_reserved: Count | None = unit(
        "bytes", "of shared memory, reserved besides a block's own; none if left out", default=None
    )

    @property
    def local_memory(self) -> int | None:
        """`shared_memory` by its old name."""
        return self.shared_memory


class Banks(Table):
    """Banks of shared memory, for the conflict degree of shared accesses."""

    count: Banked = unit("banks", "banks of shared memory", default=32)
    word_bytes: Count = unit("bytes", "width of a bank", default=4)
    lanes: Count | None = unit("threads", "lanes of a warp served together; all of them if left out", default=None)
    latency: Shortly = unit("cycles", "from a shared load's leaving its port to the use of its value", default=0)
    interval: Shortly = unit("cycles", "from one shared access of a group to the next, at least", default=0)
    service: Banked = unit("cycles", "that a pass takes the banks", default=1)
    atomic_passes: Banked = unit(
        "passes", "of an atomic, instead of one, for its read and write; with memory.pipe", default=1
    )


class Instructions(Table):
    """How long an instruction's value takes to be there for the next one of its warp, by class of work.

    The classes are those of traces (trace.schema.WORK_CLASSES) that compute; what a class leaves out takes no time.
    """

    fp32: Shortly | None = unit("cycles", "from an instruction of this class to one that needs its value", default=None)
    fp64: Shortly | None = unit("cycles", "likewise", default=None)
    fp16: Shortly | None = unit("cycles", "likewise", default=None)
    integer: Shortly | None = unit("cycles", "likewise", default=None)
    special: Shortly | None = unit("cycles", "likewise", default=None)
    tensor: Shortly | None = unit("cycles", "likewise", default=None)
    multiply: Shortly | None = unit("cycles", "likewise; that of integer if left out", default=None)


class Results(Table):
    """How long values take that machine code waits for by a scoreboard, as it does not say how long that is.

    The classes are trace.schema.RESULT_CLASSES; what a class leaves out takes no time.
    """

    special: Shortly | None = unit(
        "cycles", "from a function or conversion to an instruction that needs its value", default=None
    )
    shuffle: Shortly | None = unit("cycles", "likewise from a shuffle", default=None)
    fp64: Shortly | None = unit("cycles", "likewise from an instruction on doubles", default=None)
    tensor: Shortly | None = unit("cycles", "likewise from a product of matrices", default=None)


class Products(Table):
    """The pipes of a group that multiply matrices beside the warps, as warp groups have it done (wgmma)."""

    interval: Duration = unit("cycles", "a warp's 16 rows of 8 columns, by 32 bytes of depth, take a pipe so long")
    latency: Duration = unit("cycles", "from the end of a product to what waits for it", default=0)
    count: Count = unit("pipes", "pipes of a group; a warp uses that of its slot", default=1)


class Pipe(Table):
    """The pipes of a group for a class of instructions."""

    interval: Duration = unit("cycles", "an instruction of this class takes a pipe so long")
    count: Count = unit("pipes", "pipes of a group; a warp uses that of its slot", default=1)


class Pipes(Table):
    """Pipes by the class of instructions that they take; one of another class starts as it leaves its port."""

    fp32: Pipe | None = unit("", "for fp32", default=None)
    fp64: Pipe | None = unit("", "for fp64", default=None)
    fp16: Pipe | None = unit("", "for fp16", default=None)
    integer: Pipe | None = unit("", "for integers, logic and moves", default=None)
    special: Pipe | None = unit("", "for functions such as rsqrt", default=None)
    tensor: Pipe | None = unit("", "for products of small matrices", default=None)
    multiply: Pipe | None = unit("", "for products of integers; that of integer if left out", default=None)

    def each(self) -> tuple[Pipe | None, ...]:
        """Those of each class, in the order of CLASSES."""
        return tuple(getattr(self, name) for name in CLASSES)


class HongKim(Table):
    """What the MWP-CWP model of Hong and Kim takes beside the rest; it derives what is left out."""

    departure_delay_coalesced: Positive | None = unit(
        "cycles", "from the memory instruction of a warp to the next warp's, coalesced", default=None
    )
    departure_delay_uncoalesced: Positive | None = unit(
        "cycles", "from one transaction of an uncoalesced memory instruction to the next", default=None
    )


class Source(Table):
    """Where a value comes from and how sure it is."""

    source: str
    certainty: Literal[
        "measured",
        "confirmed",
        "paper",
        "derived",
        "secondhand",
        "config",
        "family",
        "unconfirmed",
        "assumption",
        "definition",
        "user",
    ]
    note: str = ""


def units_of(tables: Mapping[str, type[BaseModel]]) -> dict[str, tuple[str, str]]:
    """Unit and meaning of every key of these tables, by dotted key; `tables` are named by theirs."""
    found: dict[str, tuple[str, str]] = {}
    for prefix, table in tables.items():
        for name, field in table.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, dict) and field.description:
                found[f"{prefix}.{name}".lstrip(".")] = (str(extra["unit"]), field.description)
    return found
