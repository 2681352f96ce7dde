"""Durations: what a machine's parts take, in whole ticks. Derived here once; all that follows is integer arithmetic."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simtmm.machine.spec import Machine
    from simtmm.machine.tables.cores import Scheduling
    from simtmm.machine.tables.memory import LastLevelCache, Memory, SharedCache


@dataclass(frozen=True)
class Durations:
    """A machine's durations [ticks], each named after its key; what a machine does not have takes 0."""

    issue: int
    """How long one warp instruction holds an issue port."""
    pipeline_depth: int
    launch_overhead: int
    graph_launch_overhead: int
    """Of a launch that follows another one in a graph; that of others unless it has one of its own."""
    first_launch: int
    grid_barrier: int
    grid_barrier_block: int
    block_launch: int
    block_interval: int
    block_burst: int
    warp_launch: int
    latency: int
    """Of global memory, L."""
    store_latency: int
    """Of a store; L if the machine has none of its own."""
    port_interval: int
    access_interval: int
    """Of the pipe of L1 and shared memory, as are the next four."""
    tag_interval: int
    pass_interval: int
    fill_interval: int
    drain_interval: int
    shared_pass: int
    """How long a pass of a shared access takes the banks, on a machine with that pipe."""
    shared_latency: int
    """From the last pass of a shared access to the use of its value, likewise."""
    store_interval: int
    """Of stores' own path; `port_interval` on a machine whose stores use the memory port."""
    fetch_interval: int
    return_interval: int
    return_delay: int
    service: int
    atomic_service: int
    write_service: int
    turnaround: int
    store_buffer: int
    """How far a partition may be behind before stores wait for it."""
    first_access: int
    tlb_miss: int
    row_opening: int
    l1_latency: int
    """Of a hit; L without an L1. Likewise that of a shared L1, and of the L2."""
    shared_l1_latency: int
    shared_l1_service: int
    l2_latency: int
    l2_service: int
    l2_store_service: int
    """Of a slice, by a chunk that is stored; that of others unless it has one of its own."""
    l2_request_service: int
    """Of a slice at least, however few sectors a load asks for; likewise of a store."""
    l2_store_request_service: int
    far_latency: int
    """Of a hit in the other half of the L2, beside its latency; 0 of an L2 without halves."""
    far_service: int
    """Of the way into a half of the L2, by a chunk from the other half."""
    last_level_latency: int
    """Of a hit in the last-level cache; L without one."""
    last_level_service: int
    drain_latency: int
    """From when a group of stores has left to what waits for it."""
    copy_interval: int
    """Of a group, from a copy in bulk to the next."""
    atomic_latency: int
    """Of an atomic that ends in the L2; that of the L2 where none does."""
    mbarrier_latency: int
    """From the last arrival or byte at an mbarrier to what waits for it: a tick at least."""
    cluster_latency: int
    remote_interval: int
    """Of a group's way to other groups' shared memory, by a pass of an access there."""
    product_step: int
    """Of a pipe, by a step of a product; 0 on a machine without products."""
    product_latency: int
    pipes: tuple[int, ...]
    """The interval of each class of instructions, in the order of CLASSES; empty where there are none."""

    @classmethod
    def of(cls, machine: "Machine") -> "Durations":
        """Those of a machine; `Machine.durations` keeps them."""
        memory, scheduling, ticks = machine.memory, machine.scheduling, machine.ticks
        return cls(
            issue=ticks(machine.issue_cycles),
            pipeline_depth=ticks(scheduling.pipeline_depth),
            launch_overhead=ticks(scheduling.launch_overhead),
            graph_launch_overhead=ticks(_graph_launch_overhead(scheduling)),
            first_launch=ticks(scheduling.first_launch),
            grid_barrier=ticks(scheduling.grid_barrier or 0),
            grid_barrier_block=ticks(scheduling.grid_barrier_block),
            block_launch=ticks(scheduling.block_launch),
            block_interval=ticks(scheduling.block_interval),
            block_burst=(scheduling.block_burst - 1) * ticks(scheduling.block_interval),
            warp_launch=ticks(scheduling.warp_launch),
            latency=ticks(memory.latency),
            store_latency=ticks(memory.latency if memory.store_latency is None else memory.store_latency),
            port_interval=ticks(memory.port_interval),
            access_interval=ticks(memory.pipe.access_interval) if memory.pipe else 0,
            tag_interval=ticks(memory.pipe.tag_interval) if memory.pipe else 0,
            pass_interval=ticks(memory.pipe.interval) if memory.pipe else 0,
            fill_interval=ticks(memory.pipe.fill_interval) if memory.pipe else 0,
            drain_interval=ticks(memory.pipe.drain_interval) if memory.pipe else 0,
            shared_pass=ticks(machine.banks.service) if memory.pipe else 0,
            shared_latency=ticks(machine.banks.latency) if memory.pipe else 0,
            store_interval=ticks(memory.port_interval if memory.store_interval is None else memory.store_interval),
            fetch_interval=ticks(memory.fetch_interval),
            return_interval=ticks(memory.return_interval),
            return_delay=ticks(memory.return_delay),
            service=ticks(memory.service),
            atomic_service=ticks(memory.atomic_service),
            write_service=ticks(memory.write_share * memory.service),
            turnaround=ticks(memory.turnaround),
            store_buffer=ticks(memory.store_buffer * memory.service),
            first_access=ticks(memory.first_access),
            tlb_miss=ticks(memory.tlb.miss) if memory.tlb else 0,
            row_opening=ticks(memory.rows.opening) if memory.rows else 0,
            l1_latency=ticks((memory.l1 or memory).latency),
            shared_l1_latency=ticks((memory.shared_l1 or memory).latency),
            shared_l1_service=ticks(memory.shared_l1.service) if memory.shared_l1 else 0,
            l2_latency=ticks((memory.l2 or memory).latency),
            l2_service=ticks(memory.l2.service) if memory.l2 else 0,
            l2_store_service=ticks(_own_or(memory.l2.store_service, memory.l2)) if memory.l2 else 0,
            l2_request_service=ticks(_own_or(memory.l2.request_service, memory.l2)) if memory.l2 else 0,
            l2_store_request_service=ticks(_own_or(memory.l2.store_request_service, memory.l2)) if memory.l2 else 0,
            far_latency=ticks(memory.l2.far_latency) if memory.l2 and memory.l2.halves > 1 else 0,
            far_service=ticks(memory.l2.far_service) if memory.l2 and memory.l2.halves > 1 else 0,
            last_level_latency=ticks((memory.last_level or memory).latency),
            last_level_service=ticks(_last_level_service(machine, memory.last_level)),
            drain_latency=ticks(memory.drain_latency),
            copy_interval=ticks(memory.copy_interval),
            atomic_latency=ticks(_atomic_latency(memory)),
            mbarrier_latency=max(1, ticks(scheduling.mbarrier_latency)),
            cluster_latency=ticks(scheduling.cluster_latency),
            remote_interval=ticks(machine.banks.remote_interval),
            product_step=ticks(machine.products.interval) if machine.products else 0,
            product_latency=ticks(machine.products.latency) if machine.products else 0,
            pipes=tuple(ticks(pipe.interval) if pipe else 0 for pipe in machine.pipes.each()) if machine.pipes else (),
        )

    def before_launch(self, launch: int, in_graph: bool = False) -> int:
        """What is added for a launch of a run.

        launch: its number, from 0 on. in_graph: whether it follows another one in a graph.
        """
        own = self.graph_launch_overhead if in_graph else self.launch_overhead
        return own + (self.first_launch if launch == 0 else 0)

    def overheads(self, launches: int, in_graph: int = 0) -> int:
        """What is added for so many launches of a run, the first among them. in_graph: those that follow another one in
        a graph.
        """
        own = self.launch_overhead * (launches - in_graph) + self.graph_launch_overhead * in_graph
        return own + (self.first_launch if launches else 0)

    def behind_grid_barrier(self, blocks: int, groups: int) -> int:
        """From the coming of the last of so many blocks, on so many groups, to a grid barrier until all go on."""
        return max(1, self.grid_barrier + self.grid_barrier_block * max(0, blocks - groups))

    @property
    def leaving_interval(self) -> int:
        """Of a chunk that leaves its group: at a memory port, or at the tags of the pipe that stands in its place."""
        return max(self.port_interval, self.tag_interval)  # a machine has one of them

    @property
    def fastest_load(self) -> int:
        """From a port to the finish of a load of one chunk, at least."""
        return min(self.latency, self.l1_latency, self.shared_l1_latency, self.l2_latency, self.last_level_latency)

    @property
    def slowest_load(self) -> int:
        """The latency of a load of one chunk, at most."""
        far = self.l2_latency + self.far_latency
        return max(self.latency, self.l1_latency, self.shared_l1_latency, far, self.last_level_latency)


def _own_or(service: float | None, l2: "SharedCache") -> float:
    """For how long something takes a slice of the L2 [cycles]: as long as a chunk that is loaded if left out."""
    return l2.service if service is None else service


def _last_level_service(machine: "Machine", cache: "LastLevelCache | None") -> float:
    """For how long a chunk takes a slice of the last-level cache [cycles]."""
    if cache is None or cache.bandwidth is None:
        return cache.service if cache else 0.0
    return machine.memory.partitions * machine.chunk_bytes * (machine.clock_hz or 0.0) / cache.bandwidth


def _graph_launch_overhead(scheduling: "Scheduling") -> float:
    """What is added for a launch that follows another one in a graph [cycles]."""
    own = scheduling.graph_launch_overhead
    return scheduling.launch_overhead if own is None else own


def _atomic_latency(memory: "Memory") -> float:
    """Of an atomic that finds its line in the L2 [cycles]."""
    if memory.l2 is None or memory.l2.atomic_latency is None:
        return (memory.l2 or memory).latency
    return memory.l2.atomic_latency
