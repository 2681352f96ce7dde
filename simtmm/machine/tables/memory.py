"""Global memory and all that stands before it: ports, caches, translations, the pipe of a group."""

from typing import Literal

from simtmm.machine.values import Banked, Count, Duration, Positive, Share, Table, unit

LARGEST_SEGMENT = 128  # bytes that serve a half-warp at once (simtmm/trace/coalescing.py)
MOST_SECTORS, MOST_SECTOR_BYTES = 4, 255  # of a chunk, and of one: what a workload has room for
MOST_HALVES = 2  # of an L2


class Cache(Table):
    """A cache of chunks, of which the least recently used falls out, unless another rule is given."""

    sets: Count = unit("sets", "sets; a chunk lives in set chunk mod sets")
    ways: Count = unit("chunks", "chunks in a set")
    latency: Duration = unit("cycles", "latency of a hit")

    @property
    def used_sets(self) -> int:
        """Sets that chunks lie in."""
        return self.sets

    @property
    def own_sets(self) -> int:
        """Those of one cache, where there is one for each die, or of a half."""
        return self.used_sets


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


class SharedL1(Cache):
    """A cache between L1s and the L2 that some groups share, which is read and never written."""

    groups: Count = unit("groups", "groups that share one; as many caches as that takes, and groups go to them in turn")
    service: Duration = unit("cycles", "it is taken this long by a chunk", default=0)


class SharedCache(Cache):
    """The cache of all groups: a slice of it stands before each partition of global memory."""

    copies: Count = unit(
        "copies",
        "of each line, in parts of the cache that serve groups of their own: so much less is its room",
        default=1,
    )
    index: Literal["modulo", "hash"] = unit(
        "", "in which set a chunk lies: chunk mod sets, or its hash mod sets", default="modulo"
    )
    dies: Count = unit("dies", "each with such a cache for its groups, and a part of the sets", default=1)
    halves: Count = unit(
        "halves", "each with half of the sets, for half of the groups; what one lacks comes from the other", default=1
    )
    far_latency: Duration = unit("cycles", "a hit in the other half takes so much longer", default=0)
    far_service: Duration = unit("cycles", "the way into a half is taken so long by a chunk of the other", default=0)
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
    waiting_stores: Count | None = unit(
        "lines",
        "whose stores wait for their slice, as a group knows them: later ones of the same sectors join these",
        default=None,
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
        """Sets that chunks lie in, each as often as there are copies; of all dies, and both halves."""
        return max(1, self.sets // self.copies // self.parts) * self.parts

    @property
    def own_sets(self) -> int:
        """Those of a die, or of a half."""
        return self.used_sets // self.parts

    @property
    def parts(self) -> int:
        """Dies or halves, by which groups share it."""
        return max(self.dies, self.halves)  # a machine has one of them


class LastLevelCache(Cache):
    """The cache of global memory itself, behind the L2: a slice of it stands before each partition."""

    service: Duration = unit("cycles", "a slice is taken this long by a chunk", default=0)
    bandwidth: Positive | None = unit(
        "bytes/s", "what all slices move; how long a chunk takes one follows from it, in place of service", default=None
    )
    index: Literal["modulo", "hash"] = unit(
        "", "in which set a chunk lies: chunk mod sets, or its hash mod sets", default="modulo"
    )
    start: Literal["as-l2", "warm"] = unit(
        "", "at a launch: as the L2 begins, or warm even where that begins cold", default="as-l2"
    )
    replacement: Literal["lru", "random"] = unit(
        "", "which line of a full set falls out: that used longest ago, or any, as a hash decides", default="lru"
    )


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
        "of 4 bytes of the L1, or as many fewer as an access is wider; banks.count of banks.word_bytes if left out",
        default=None,
    )
    tag_banks: Banked | None = unit(
        "banks",
        "of the tags of rows of the L1's `banks`, from each of which lanes served together reach one row at a time; "
        "rows don't matter if left out",
        default=None,
    )
    fill_interval: Duration = unit(
        "cycles", "a chunk that a load does not find in the L1 comes in this often", default=0
    )
    drain_interval: Duration = unit("cycles", "a chunk of a store goes out to the L2 this often", default=0)
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
    drain_latency: Duration = unit("cycles", "from when a group of stores has left to what waits for that", default=0)
    copy_interval: Duration = unit("cycles", "a group begins a copy in bulk this often", default=0)
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
    interleave: Literal["modulo", "hash", "rotated"] = unit(
        "",
        "how chunks spread over partitions: in turn, by a hash, or in turn from where a hash of each round says",
        default="modulo",
    )
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
    write_share: Share = unit("", "of `service`, for which a partition is taken by a chunk that is written", default=1)
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
    shared_l1: SharedL1 | None = unit("", "the cache that some groups share before the L2", default=None)
    l2: SharedCache | None = unit("", "the cache of all groups", default=None)
    last_level: LastLevelCache | None = unit("", "the cache of global memory, behind the L2", default=None)
