"""Core groups: their cores, who issues when, what they may hold, and what blocks share of them."""

from typing import Literal

from simtmm.machine.values import Count, Duration, Shortly, Table, Threads, unit


class Cores(Table):
    """The cores: P = groups * cores_per_group of them."""

    groups: Count = unit("core groups", "core groups, P / Q")
    cores_per_group: Count = unit("cores", "cores in a group, Q")
    warp_width: Count = unit("threads", "threads in lockstep, W")
    max_threads_per_core: Threads = unit("threads", "threads a core may hold, X")
    issue_ports: Count | None = unit("ports", "issue ports of a group; left out: max(1, floor(Q / W))", default=None)

    cluster_groups: Count | None = unit(
        "core groups",
        "of a neighbourhood, at least, where blocks of a cluster are placed together; left out: one by one",
        default=None,
    )

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
    cluster_barrier: Shortly = unit("cycles", "beyond a block's barrier, behind one of the cluster", default=0)
    cluster_fence: Shortly = unit("cycles", "likewise, where it orders memory between blocks", default=0)
    cluster_fence_interval: Shortly = unit("cycles", "likewise, for each warp of the block", default=0)
    fence_device: Shortly = unit("cycles", "that a fence of the device holds its warp, or what releases", default=0)
    fence_sequential: Shortly = unit("cycles", "likewise, one in one order of all such fences", default=0)
    fence_system: Shortly = unit("cycles", "likewise, of a fence for the host as well", default=0)


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
