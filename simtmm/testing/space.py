"""The space of machines and workloads that engines are compared on: small, over all rules of docs/machine.md."""

from collections.abc import Callable
from functools import partial
from typing import Any

from simtmm.machine import Machine
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.stalls import CLASSES
from simtmm.testing.draw import Draw
from simtmm.workload import Workload

Tables = dict[str, Any]
Operation = list[Any]

LOCAL = LOCAL_BASE // 128  # the first chunk of local memory on the machines below
MEMORY = ("load", "async", "store", "atomic", "reduce")
DURATIONS = (0, 1, 3, 7.46, 20)
PIPE_DURATIONS = (0, 1, 0.28, 2, 7.46)
FEW_DURATIONS = (0, 1, 2.5, 16)


def _cache(draw: Draw) -> Tables:
    return {"sets": draw.whole(1, 4), "ways": draw.whole(1, 3), "latency": draw.whole(1, 60)}


def _group_pipe(draw: Draw) -> Tables:
    """The pipe of L1 and shared memory: ticks, and the banks that lowering counts passes by."""
    keys = ("access_interval", "tag_interval", "interval", "fill_interval", "drain_interval")
    pipe: Tables = {key: draw.one_of(PIPE_DURATIONS) for key in keys}
    if draw.flag():
        pipe["misses"] = draw.whole(1, 5)
    pipe["lanes"] = draw.one_of((None, 4, 8))
    pipe["phase_bytes"] = draw.one_of((128, 64))
    pipe["banks"] = draw.one_of((None, 3, 16))
    if pipe["lanes"] is not None:
        pipe["run"] = draw.one_of((None, 2 * pipe["lanes"]))
    if pipe["banks"] is not None:
        pipe["tag_banks"] = draw.one_of((None, 2, 5))
    return {**pipe, "shared": draw.one_of(("together", "apart"))}


def _l2(draw: Draw, durations: tuple[float, ...], has_sectors: bool) -> Tables:
    cache = _cache(draw) | {
        "service": draw.one_of(durations),
        "writes": draw.one_of(("through", "back")),
        "start": draw.one_of(("cold", "warm", "kept")),
        "index": draw.one_of(("modulo", "hash")),
        "replacement": draw.one_of(("lru", "random")),
        "waiting_stores": draw.one_of((None, 1, 3)),
        "victims": draw.one_of(("posted", "waited")),
        "atomics": draw.one_of(("through", "here")),
    }
    if draw.whole(0, 2) == 0:
        cache |= {"halves": 2, "far_latency": draw.one_of((0, 12, 30.5)), "far_service": draw.one_of(durations)}
    else:
        cache |= {"copies": draw.one_of((1, 1, 2)), "dies": draw.one_of((1, 1, 2, 3))}
    if cache["writes"] == "back" and draw.flag():
        cache["store_service"] = draw.one_of(durations)
    if cache["atomics"] == "here" and draw.flag():
        cache["atomic_latency"] = draw.one_of((1, 33, 90.5))
    if has_sectors and draw.flag():
        cache["request_service"] = draw.one_of(durations)
        cache["store_request_service"] = draw.one_of(durations)
    return cache


def _last_level(draw: Draw, durations: tuple[float, ...]) -> Tables:
    return _cache(draw) | {
        "service": draw.one_of(durations),
        "index": draw.one_of(("modulo", "hash")),
        "replacement": draw.one_of(("lru", "random")),
        "start": draw.one_of(("as-l2", "as-l2", "warm")),
    }


def _memory(draw: Draw, coupled: bool) -> Tables:
    is_serial = draw.flag()
    durations: tuple[float, ...] = (0,) if is_serial else DURATIONS
    service = durations if coupled else (0,)
    memory: Tables = {
        "latency": draw.one_of((1, 3, 50, 100.5)),
        "chunk_words": 32,
        "transfers": "serial" if is_serial else "pipelined",
        "port_interval": draw.one_of(durations),
        "port_chunks": draw.one_of((1, 1, 4)),
        "ports": draw.one_of((1, 1, 2, 3)),
        "partitions": draw.whole(1, 5),
        "interleave": draw.one_of(("modulo", "hash", "rotated")),
        "service": draw.one_of(service),
        "atomic_service": draw.one_of(service),
        "write_share": draw.one_of((1, 1, 0.5, 1.25, 3)) if coupled else 1,
        "turnaround": draw.one_of(service),
        "store_buffer": draw.one_of((0, 0, 1, 2.5, 40)),
        "fetch_interval": draw.one_of(durations),
        "return_interval": draw.one_of(durations),
        "return_delay": draw.one_of(durations),
        "copy_interval": draw.one_of((0, 0, 7.5)),
        "drain_latency": draw.one_of((0, 0, 9.5)),
        "first_access": draw.one_of((0, 0, 15, 120.5)),
        "stores": draw.one_of(("blocking", "posted", "at-end")),
        "l1_after_store": draw.one_of(("keep", "drop")),
        "translations": draw.one_of(("launch", "run")),
    }
    if not is_serial:
        memory |= _pipelined(draw, memory["translations"], service, coupled)
    if draw.flag():
        memory["l1"] = _cache(draw) | {
            "index": draw.one_of(("modulo", "skewed")),
            "local_writes": draw.one_of(("through", "back")),
        }
    if coupled and not is_serial and draw.whole(0, 2) == 0:
        memory["shared_l1"] = _cache(draw) | {"groups": draw.whole(1, 3), "service": draw.one_of(durations)}
    if coupled and draw.flag():
        memory["l2"] = _l2(draw, durations, "sectors" in memory)
    if coupled and not is_serial and draw.whole(0, 2) == 0:
        memory["last_level"] = _last_level(draw, durations)
    if draw.flag():
        memory["store_latency"] = draw.one_of((1, 20, 150.25))
    if draw.flag():
        memory["store_interval"] = draw.one_of(durations)
    if draw.flag():
        memory["outstanding"] = draw.whole(1, 3)
    return memory


def _pipelined(draw: Draw, translations: str, service: tuple[float, ...], coupled: bool) -> Tables:
    """What only pipelined transfers have."""
    memory: Tables = {}
    if draw.flag():
        memory |= {"port_interval": 0, "ports": 1, "pipe": _group_pipe(draw)}
    if translations == "launch" and draw.whole(0, 3) == 0:
        page = 128 * draw.whole(1, 5)
        memory["tlb"] = {"entries": draw.whole(1, 3), "page": page, "miss": draw.one_of(DURATIONS)}
    if coupled and draw.flag():
        memory["rows"] = {"chunks": draw.whole(1, 4), "open": draw.whole(1, 3), "opening": draw.one_of(service)}
    if draw.flag():
        memory["sectors"] = draw.one_of((2, 4))
        memory["fetch_sectors"] = draw.one_of((1, 2))
        memory["partial_writes"] = draw.one_of(("masked", "read"))
    return memory


def _pipe(draw: Draw) -> Tables:
    pipe: Tables = {"interval": draw.one_of(FEW_DURATIONS)}
    if draw.flag():
        pipe["count"] = draw.whole(1, 3)
    return pipe


def _products(draw: Draw) -> Tables:
    return {"latency": draw.one_of(FEW_DURATIONS), **_pipe(draw)}


def _scheduling(draw: Draw) -> Tables:
    overhead, node = draw.one_of(((0, None), (5, None), (0, 3), (5, 0)))
    return {
        "switch": draw.one_of(("on-stall", "every-instruction")),
        "scheduler": draw.one_of(("fifo", "oldest", "greedy-oldest", "round-robin")),
        "ports": draw.one_of(("any", "any", "own")),
        "pipeline_depth": draw.one_of((0, 1, 4, 21)),
        "launch_overhead": overhead,
        "graph_launch_overhead": node,
        "first_launch": draw.one_of((0, 0, 70)),
        "grid_barrier": draw.one_of((0, 0, 33)),
        "grid_barrier_block": draw.one_of((0, 0, 2.5)),
        "block_launch": draw.one_of((0, 0, 40)),
        "block_interval": draw.one_of((0, 0, 25)),
        "block_burst": draw.one_of((1, 1, 2, 5)),
        "warp_launch": draw.one_of((0, 0, 10)),
        "mbarrier_latency": draw.one_of(FEW_DURATIONS),
        "cluster_latency": draw.one_of(FEW_DURATIONS),
    }


def machine(draw: Draw, coupled: bool = True) -> Machine:
    """Any machine that holds blocks of up to six warps.

    coupled: False for machines whose core groups share no bandwidth and no cache.
    """
    limits = {"warps_per_group": draw.whole(6, 12)}
    if draw.flag():
        limits["blocks_per_group"] = draw.whole(1, 4)
    groups = draw.whole(1, 4)
    tables = {
        "name": "drawn",
        "ticks_per_cycle": draw.one_of((1, 1, 100)),
        "cores": {
            "groups": groups,
            "cores_per_group": draw.one_of((1, 4, 8, 32)),
            "warp_width": draw.one_of((1, 8, 32)),
            "max_threads_per_core": 4096,
            "issue_ports": draw.one_of((None, None, 1, 3, 5)),
            "cluster_groups": draw.one_of((None, 2, 2, 3)) if groups > 1 else None,  # two blocks always fit
        },
        "scheduling": _scheduling(draw),
        "memory": _memory(draw, coupled),
        "pipes": {name: _pipe(draw) for name in CLASSES if draw.whole(0, 3) == 0},
        "banks": {
            "service": draw.one_of((1, 1, 2)),
            "latency": draw.one_of((0, 22, 28.5)),
            "remote_interval": draw.one_of(FEW_DURATIONS),
        },
        "limits": limits,
    }
    if draw.flag():
        tables["products"] = _products(draw)
    return Machine.from_dict(tables)


def _chunk(draw: Draw) -> int:
    return draw.whole(0, 40) if draw.flag() else draw.whole(LOCAL, LOCAL + 12)


def _bytes_of_sector(draw: Draw) -> int:
    return draw.one_of((0, 0, 1, 16, 32, 64))  # 32 are a whole sector of 4, 64 one of 2


def _compute(draw: Draw) -> Operation:
    return ["compute", draw.whole(1, 12)]


def _compute_of_class(draw: Draw) -> Operation:
    return ["compute", draw.whole(1, 12), draw.one_of(CLASSES)]


def _shared(draw: Draw) -> Operation:
    return ["shared", draw.whole(1, 4)]


def _shared_with_least(draw: Draw) -> Operation:
    return ["shared", draw.whole(3, 6), draw.whole(1, 3)]


def _access(draw: Draw) -> Operation:
    return [draw.one_of(MEMORY), draw.many(_chunk, 1, 8)]


def _access_with_passes(draw: Draw) -> Operation:
    return [*_access(draw), draw.whole(1, 6)]


def _access_with_sectors(draw: Draw) -> Operation:
    word, chunks, passes = _access_with_passes(draw)
    return [word, chunks, passes, [draw.many(_bytes_of_sector, 0, 4) for _ in chunks]]


def _remote(draw: Draw) -> Operation:
    return ["remote", draw.whole(1, 4)]


def _settle(draw: Draw) -> Operation:
    return ["settle", draw.whole(0, 3)]


def _join(draw: Draw) -> Operation:
    return ["join", draw.whole(0, 3)]


def _pause(draw: Draw) -> Operation:
    return ["pause", draw.whole(1, 12)]


def _meeting(draw: Draw) -> Operation:
    return [draw.one_of(("barrier", "sync", "grid_barrier"))]


ALONE: tuple[Callable[[Draw], Operation], ...] = (  # what no other warp need wait for
    _compute, _compute_of_class, _shared, _shared_with_least, _access, _access_with_passes, _access_with_sectors,
    _settle, _join, _pause, _remote,
)  # fmt: skip
OPERATIONS = (*ALONE, _meeting)


def operation(draw: Draw) -> Operation:
    """An operation of a warp, as in a workload's JSON, of any kind but those at mbarriers."""
    return draw.one_of(OPERATIONS)(draw)


def operation_alone(draw: Draw) -> Operation:
    """An operation that is no barrier."""
    return draw.one_of(ALONE)(draw)


def _warp(draw: Draw) -> list[Operation]:
    return draw.many(operation, 0, 10)


def _block(draw: Draw, least: int, most: int) -> Tables:
    return {"warps": draw.many(_warp, least, most)}


def launch(draw: Draw) -> Tables:
    """A launch, as in a workload's JSON: blocks of up to six warps, alike in their number of warps or not."""
    if draw.flag():
        blocks = draw.many(partial(_block, least=0, most=6), 0, 6)
    else:  # blocks of a launch are alike in real kernels; an engine may treat that case on its own
        warps = draw.whole(1, 4)
        blocks = draw.many(partial(_block, least=warps, most=warps), 0, 10)
    return {
        "blocks": blocks,
        **({"blocks_per_group": draw.whole(1, 3)} if draw.flag() else {}),
        **({"in_graph": True} if draw.flag() else {}),
        **({"cluster": 2} if draw.flag() else {}),
    }


def workload(draw: Draw) -> Workload:
    """One or two launches."""
    return Workload.from_dict({"launches": draw.many(launch, 1, 2)})
