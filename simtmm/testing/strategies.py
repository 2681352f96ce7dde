"""Hypothesis strategies for machines, launches and workloads: small, over the whole space of rules."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from simtmm.machine import Machine
from simtmm.stalls import CLASSES
from simtmm.workload import Workload

Tables = dict[str, Any]

LOCAL = 2**61 // 128  # the first chunk of local memory on the machines below
MEMORY = ("load", "async", "store", "atomic", "reduce")


@st.composite
def _caches(draw: DrawFn) -> Tables:
    return {"sets": draw(st.integers(1, 4)), "ways": draw(st.integers(1, 3)), "latency": draw(st.integers(1, 60))}


@st.composite
def _group_pipes(draw: DrawFn) -> Tables:
    """What decides ticks of the pipe of L1 and shared memory; lowering has the rest."""
    durations = st.sampled_from([0, 1, 0.28, 2, 7.46])
    pipe = {name: draw(durations) for name in ("access_interval", "tag_interval", "interval")}
    pipe["fill_interval"] = draw(durations)
    if draw(st.booleans()):
        pipe["misses"] = draw(st.integers(1, 5))
    return {**pipe, "shared": draw(st.sampled_from(["together", "apart"]))}


@st.composite
def _memories(draw: DrawFn, coupled: bool) -> Tables:  # noqa: C901 - a case for each table of a memory
    serial = draw(st.booleans())
    durations = st.just(0) if serial else st.sampled_from([0, 1, 3, 7.46, 20])
    service = durations if coupled else st.just(0)
    memory: Tables = {
        "latency": draw(st.sampled_from([1, 3, 50, 100.5])),
        "chunk_words": 32,
        "transfers": "serial" if serial else "pipelined",
        "port_interval": draw(durations),
        "port_chunks": draw(st.sampled_from([1, 1, 4])),
        "ports": draw(st.sampled_from([1, 1, 2, 3])),
        "partitions": draw(st.integers(1, 5)),
        "interleave": draw(st.sampled_from(["modulo", "hash"])),
        "service": draw(service),
        "atomic_service": draw(service),
        "turnaround": draw(service),
        "store_buffer": draw(st.sampled_from([0, 0, 1, 2.5, 40])),
        "fetch_interval": draw(durations),
        "return_interval": draw(durations),
        "return_delay": draw(durations),
        "first_access": draw(st.sampled_from([0, 0, 15, 120.5])),
        "stores": draw(st.sampled_from(["blocking", "posted", "at-end"])),
        "l1_after_store": draw(st.sampled_from(["keep", "drop"])),
    }
    if not serial and draw(st.booleans()):
        memory |= {"port_interval": 0, "ports": 1, "pipe": draw(_group_pipes())}
    memory["translations"] = draw(st.sampled_from(["launch", "run"]))
    if not serial and memory["translations"] == "launch" and draw(st.integers(0, 3)) == 0:
        page = 128 * draw(st.integers(1, 5))
        memory["tlb"] = {"entries": draw(st.integers(1, 3)), "page": page, "miss": draw(durations)}
    if coupled and not serial and draw(st.booleans()):
        memory["rows"] = {"chunks": draw(st.integers(1, 4)), "open": draw(st.integers(1, 3)), "opening": draw(service)}
    for cache in ("l1", "l2") if coupled else ("l1",):
        if draw(st.booleans()):
            memory[cache] = draw(_caches())
    if "l1" in memory:
        memory["l1"]["index"] = draw(st.sampled_from(["modulo", "skewed"]))
        memory["l1"]["local_writes"] = draw(st.sampled_from(["through", "back"]))
    if "l2" in memory:
        memory["l2"]["service"] = draw(durations)
        memory["l2"]["writes"] = draw(st.sampled_from(["through", "back"]))
        memory["l2"]["start"] = draw(st.sampled_from(["cold", "warm", "kept"]))
        memory["l2"]["copies"] = draw(st.sampled_from([1, 1, 2]))
        memory["l2"]["replacement"] = draw(st.sampled_from(["lru", "random"]))
        memory["l2"]["waiting_stores"] = draw(st.sampled_from([None, 1, 3]))
        memory["l2"]["victims"] = draw(st.sampled_from(["posted", "waited"]))
        if memory["l2"]["writes"] == "back" and draw(st.booleans()):
            memory["l2"]["store_service"] = draw(durations)
        memory["l2"]["atomics"] = draw(st.sampled_from(["through", "here"]))
        if memory["l2"]["atomics"] == "here" and draw(st.booleans()):
            memory["l2"]["atomic_latency"] = draw(st.sampled_from([1, 33, 90.5]))
    if not serial and draw(st.booleans()):
        memory["sectors"] = draw(st.sampled_from([2, 4]))
        memory["fetch_sectors"] = draw(st.sampled_from([1, 2]))
        memory["partial_writes"] = draw(st.sampled_from(["masked", "read"]))
        if "l2" in memory and draw(st.booleans()):
            memory["l2"]["request_service"] = draw(durations)
            memory["l2"]["store_request_service"] = draw(durations)
    memory["copy_interval"] = draw(st.sampled_from([0, 0, 7.5]))
    if draw(st.booleans()):
        memory["store_latency"] = draw(st.sampled_from([1, 20, 150.25]))
    if draw(st.booleans()):
        memory["store_interval"] = draw(durations)
    if draw(st.booleans()):
        memory["outstanding"] = draw(st.integers(1, 3))
    return memory


@st.composite
def _pipes(draw: DrawFn) -> Tables:
    """For some of the classes that operations are of."""
    intervals = st.sampled_from([0, 1, 2.5, 16])
    pipe = st.fixed_dictionaries({"interval": intervals}, optional={"count": st.integers(1, 3)})
    return draw(st.dictionaries(st.sampled_from(CLASSES[:3]), pipe))


@st.composite
def machines(draw: DrawFn, coupled: bool = True) -> Machine:
    """Any machine that holds blocks of up to six warps.

    coupled: False for machines whose core groups share no bandwidth and no cache.
    """
    limits = {"warps_per_group": draw(st.integers(6, 12))}
    if draw(st.booleans()):
        limits["blocks_per_group"] = draw(st.integers(1, 4))
    return Machine.from_dict(
        {
            "name": "drawn",
            "ticks_per_cycle": draw(st.sampled_from([1, 1, 100])),
            "cores": {
                "groups": draw(st.integers(1, 4)),
                "cores_per_group": draw(st.sampled_from([1, 4, 8, 32])),
                "warp_width": draw(st.sampled_from([1, 8, 32])),
                "max_threads_per_core": 4096,
                "issue_ports": draw(st.sampled_from([None, None, 1, 3, 5])),
            },
            "scheduling": {
                "switch": draw(st.sampled_from(["on-stall", "every-instruction"])),
                "scheduler": draw(st.sampled_from(["fifo", "oldest", "greedy-oldest", "round-robin"])),
                "ports": draw(st.sampled_from(["any", "any", "own"])),
                "pipeline_depth": draw(st.sampled_from([0, 1, 4, 21])),
                "launch_overhead": draw(st.sampled_from([0, 5])),
                "first_launch": draw(st.sampled_from([0, 0, 70])),
                "grid_barrier": draw(st.sampled_from([0, 0, 33])),
                "grid_barrier_block": draw(st.sampled_from([0, 0, 2.5])),
                "block_launch": draw(st.sampled_from([0, 0, 40])),
                "block_interval": draw(st.sampled_from([0, 0, 25])),
                "block_burst": draw(st.sampled_from([1, 1, 2, 5])),
                "warp_launch": draw(st.sampled_from([0, 0, 10])),
            },
            "memory": draw(_memories(coupled)),
            "pipes": draw(_pipes()),
            "banks": {"service": draw(st.sampled_from([1, 1, 2])), "latency": draw(st.sampled_from([0, 22, 28.5]))},
            "limits": limits,
        }
    )


def _with_sectors(drawn: tuple[str, list[tuple[int, list[int]]], int]) -> tuple[Any, ...]:
    """An operation whose chunks were drawn with the bytes of their sectors."""
    word, chunks, passes = drawn
    return word, [chunk for chunk, _ in chunks], passes, [sectors for _, sectors in chunks]


def operations() -> SearchStrategy[list[Any]]:
    """An operation of a warp, as in a workload's JSON."""
    global_or_local = st.one_of(st.integers(0, 40), st.integers(LOCAL, LOCAL + 12))
    chunks = st.lists(global_or_local, min_size=1, max_size=8)
    in_bytes = st.lists(st.sampled_from([0, 0, 1, 16, 32, 64]), max_size=4)  # 32 are a whole sector of 4, 64 one of 2
    sectored = st.lists(st.tuples(global_or_local, in_bytes), min_size=1, max_size=8)
    drawn: SearchStrategy[tuple[Any, ...]] = st.one_of(
        st.tuples(st.just("compute"), st.integers(1, 12)),
        st.tuples(st.just("compute"), st.integers(1, 12), st.sampled_from(CLASSES[:4])),
        st.tuples(st.just("shared"), st.integers(1, 4)),
        st.tuples(st.just("shared"), st.integers(3, 6), st.integers(1, 3)),
        st.tuples(st.sampled_from(MEMORY), chunks),
        st.tuples(st.sampled_from(MEMORY), chunks, st.integers(1, 6)),
        st.tuples(st.sampled_from(MEMORY), sectored, st.integers(1, 6)).map(_with_sectors),
        st.tuples(st.just("settle"), st.integers(0, 3)),
        st.tuples(st.just("join"), st.integers(0, 3)),
        st.tuples(st.just("pause"), st.integers(1, 12)),
        st.sampled_from([("barrier",), ("sync",), ("grid_barrier",)]),
    )
    return drawn.map(list)


def _blocks(least: int, most: int) -> SearchStrategy[Tables]:
    warps = st.lists(operations(), max_size=10)
    return st.fixed_dictionaries({"warps": st.lists(warps, min_size=least, max_size=most)})


def _launches_of(blocks: SearchStrategy[list[Tables]]) -> SearchStrategy[Tables]:
    return st.fixed_dictionaries({"blocks": blocks}, optional={"blocks_per_group": st.integers(1, 3)})


def launches() -> SearchStrategy[Tables]:
    """A launch, as in a workload's JSON: blocks of up to six warps, alike in their number of warps or not."""
    uneven = _launches_of(st.lists(_blocks(0, 6), max_size=6))
    # Blocks of a launch are alike in real kernels; an engine may treat that case on its own.
    even = st.integers(1, 4).flatmap(lambda count: _launches_of(st.lists(_blocks(count, count), max_size=10)))
    return st.one_of(uneven, even)


def workloads() -> SearchStrategy[Workload]:
    """One or two launches."""
    return st.lists(launches(), min_size=1, max_size=2).map(lambda drawn: Workload.from_dict({"launches": drawn}))
