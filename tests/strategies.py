"""Hypothesis strategies for machines and workloads: small, over the whole space of rules."""

from hypothesis import strategies as st

from simtmm import Machine, Workload

MEMORY = ("load", "async", "store", "atomic")
CHUNKS = st.lists(st.integers(0, 40), min_size=1, max_size=8)


@st.composite
def caches(draw):
    return {"sets": draw(st.integers(1, 4)), "ways": draw(st.integers(1, 3)), "latency": draw(st.integers(1, 60))}


@st.composite
def machines(draw):
    """Any machine that holds blocks of up to six warps."""
    serial = draw(st.booleans())
    durations = st.just(0) if serial else st.sampled_from([0, 1, 3, 7.46, 20])
    memory = {
        "latency": draw(st.sampled_from([1, 3, 50, 100.5])),
        "chunk_words": 32,
        "transfers": "serial" if serial else "pipelined",
        "port_interval": draw(durations),
        "partitions": draw(st.integers(1, 5)),
        "interleave": draw(st.sampled_from(["modulo", "hash"])),
        "service": draw(durations),
        "atomic_service": draw(durations),
        "stores": draw(st.sampled_from(["blocking", "posted"])),
    }
    for cache in ("l1", "l2"):
        if draw(st.booleans()):
            memory[cache] = draw(caches())
    if draw(st.booleans()):
        memory["outstanding"] = draw(st.integers(1, 3))
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
                "threads_per_core": 4096,
            },
            "scheduling": {
                "switch": draw(st.sampled_from(["on-stall", "every-instruction"])),
                "scheduler": draw(st.sampled_from(["fifo", "oldest", "greedy-oldest", "round-robin"])),
                "pipeline_depth": draw(st.sampled_from([0, 1, 4, 21])),
                "launch_overhead": draw(st.sampled_from([0, 5])),
                "block_launch": draw(st.sampled_from([0, 0, 40])),
                "warp_launch": draw(st.sampled_from([0, 0, 10])),
            },
            "memory": memory,
            "limits": limits,
        }
    )


operations = st.one_of(
    st.tuples(st.just("compute"), st.integers(1, 12)),
    st.tuples(st.just("shared"), st.integers(1, 4)),
    st.tuples(st.sampled_from(MEMORY), CHUNKS),
    st.tuples(st.just("join"), st.integers(0, 3)),
    st.just(("barrier",)),
).map(list)

warps = st.lists(operations, max_size=10)


def launches_of(blocks):
    return st.fixed_dictionaries({"blocks": blocks}, optional={"blocks_per_group": st.integers(1, 3)})


def blocks_of(least, most):
    return st.fixed_dictionaries({"warps": st.lists(warps, min_size=least, max_size=most)})


# Blocks of a launch are alike in real kernels; an engine may treat that case on its own.
uneven = launches_of(st.lists(blocks_of(0, 6), max_size=6))
even = st.integers(1, 4).flatmap(lambda count: launches_of(st.lists(blocks_of(count, count), max_size=10)))
launches = st.one_of(uneven, even)
workloads = st.lists(launches, min_size=1, max_size=2).map(lambda drawn: Workload.from_dict({"launches": drawn}))
