"""Blocks and caches: Figs 1.1, 5.2 to 5.4, 5.12 and 6.1 of Ma's dissertation, and 002's."""

from collections.abc import Mapping
from typing import Any

from simtmm.machine import Machine, load_machine
from simtmm.model.cache import cache_factor, hit_rate
from simtmm.model.fit import fit_cache
from simtmm.model.launch.scheduling import scheduling_factor
from simtmm.validation.cases.zigzag import bloom_filter, sweep
from simtmm.validation.figures.figure import Curve, Figure, curve, powers
from simtmm.validation.figures.programs import FITTED_NOTHING, NO_POINTS, seconds, simulated

BLOCKS = 46  # of the largest grid: three periods of 15 blocks, and one more
K_BYTE = 1024
EQ_5_13: dict[str, Any] = {"fitted": "the models' height, to the simulated peak", "notes": (NO_POINTS,)}


def _scheduled(label: str, machine: Machine, throughput: Mapping[int, float]) -> Curve:
    """Eq (5.13) with one block a group, as high as the best of a curve."""
    by_blocks = {
        blocks: 1 / float(scheduling_factor(blocks, 1, machine.processors, machine.cores.cores_per_group))
        for blocks in throughput
    }
    best = max(throughput.values())
    return curve(f"Eq (5.13), {label}", "model", {blocks: best * of for blocks, of in by_blocks.items()})


def zigzags() -> tuple[Figure, ...]:
    """Figs 5.2 and 5.12."""
    found = []
    gtx480 = load_machine("gtx480")
    for part, kb in (("a", 8), ("b", 32)):
        curves = []
        for memory in ("shared", "global"):
            table: dict[str, object] = {"working_set": kb * K_BYTE, "memory": memory}
            swept = sweep("gtx480", "hashing", {"n": 2048 * BLOCKS, "threads": 1024, **table}, BLOCKS)
            points = dict(zip(swept.blocks, (swept.throughput * 1e3).tolist(), strict=True))
            curves += [curve(f"simulated, {memory}", "simulated", points), _scheduled(memory, gtx480, points)]
        found.append(
            Figure(
                f"ma-fig-5.2{part}",
                f"Hashing over the blocks, {kb} KB",
                f"000 Fig 5.2 ({part}), 002 Fig 3 and 4",
                x="requested blocks B_r",
                y="blocks of work in 1000 cycles",
                curves=tuple(curves),
                predicted="the simulated curves, and where the model's peaks lie",
                **EQ_5_13,
            )
        )
    for part, name, threads in (("a", "gtx480", 1024), ("b", "tesla-c1060", 512)):
        swept = sweep(name, "bloom-filter", bloom_filter(BLOCKS) | {"n": 1024, "threads": threads}, BLOCKS)
        points = dict(zip(swept.blocks, (swept.throughput * 1e6).tolist(), strict=True))
        found.append(
            Figure(
                f"ma-fig-5.12{part}",
                f"Bloom filter over the blocks, {name}",
                f"000 Fig 5.12 ({part}), 002 Fig 7",
                x="requested blocks B_r",
                y="blocks of work in 1e6 cycles",
                curves=(curve("simulated", "simulated", points), _scheduled(name, load_machine(name), points)),
                predicted="the simulated curve, and where the model's peaks lie",
                **EQ_5_13,
            )
        )
    return tuple(found)


def caches() -> tuple[Figure, ...]:
    """Figs 5.3 and 5.4."""
    machine = load_machine("gtx480").replace({"memory.l2": None})
    assert machine.memory.l1 is not None
    line = machine.chunk_bytes
    rates, times = [], []
    for kb in (16, 48):
        ways = machine.memory.l1.ways
        at = machine.replace({"memory.l1.sets": kb * K_BYTE // (line * ways)})
        hits, took = {}, {}
        for m in powers(12, 18):
            parameters = {"n": 15 * 16384, "threads": 256, "blocks": 15, "working_set": m, "memory": "global"}
            result = simulated(at, "hashing", parameters)
            positions = 15 * 16384 * 4 // line  # chunks of positions, which never hit
            hits[m] = result.l1_hits / (result.transactions - positions)
            took[m] = result.cycles
        rates.append(curve(f"simulated, r_H, {kb} KB", "simulated", hits))
        rates.append(
            curve(f"Eq (5.10), r_H, {kb} KB", "model", {m: float(hit_rate(m, kb * K_BYTE)) for m in powers(12, 18)})
        )
        if kb == 48:
            fitted = fit_cache(list(took), list(took.values()), kb * K_BYTE)
            model = {m: fitted.hit_time * float(cache_factor(m, kb * K_BYTE, fitted.G)) for m in took}
            times = [curve("simulated", "simulated", took), curve(f"Eq (5.12), G = {fitted.G:.3g}", "fitted", model)]
    note = "Without the L2, which the model has no term for. A set's chunks hit by eviction of the least recent."
    return (
        Figure(
            "ma-fig-5.3",
            "Hit rate of the L1 over the working set",
            "000 Fig 5.3, 002 Fig 5",
            FITTED_NOTHING,
            "all curves",
            x="working set in bytes",
            y="hit rate",
            logarithmic="x",
            curves=tuple(rates),
            notes=(note, NO_POINTS),
        ),
        Figure(
            "ma-fig-5.4",
            "Time over the working set, L1 of 48 KB",
            "000 Fig 5.4, 002 Fig 6",
            "G and the time of a hit, to the simulated times",
            "the simulated times, and the model's shape",
            x="working set in bytes",
            y="cycles",
            logarithmic="x",
            curves=tuple(times),
            notes=(note, NO_POINTS),
        ),
    )


def framework() -> tuple[Figure, ...]:
    """Fig 6.1."""
    points = {blocks: float(scheduling_factor(blocks, 1, 480, 32)) for blocks in range(1, 91)}
    return (
        Figure(
            "ma-fig-6.1",
            "Time over the requested blocks",
            "000 Fig 6.1: B_a = 1, P / Q = 15",
            FITTED_NOTHING,
            "all of it",
            x="requested blocks B_r",
            y="f_sched",
            curves=(curve("Eq (5.13)", "model", points),),
        ),
    )


def occupancy() -> tuple[Figure, ...]:
    """Fig 1.1."""
    curves = []
    for name, most in (("tesla-c1060", 512), ("gtx480", 1024)):
        machine = load_machine(name)
        points = {}
        for threads in (32, 64, 128, 256, 512, 1024):
            if threads <= most:
                groups = machine.cores.groups
                parameters = {
                    "n": 1024,
                    "sub_queries": groups,
                    "blocks": groups,
                    "threads": threads,
                    "m": 65536,
                    "k": 4,
                    "stop": "never",
                }
                tests = 1024 * groups
                points[threads / machine.cores.cores_per_group] = (
                    tests / seconds(machine, "bloom-filter", parameters) / 1e6
                )
        curves.append(curve(f"simulated, {name}", "simulated", points))
    return (
        Figure(
            "ma-fig-1.1",
            "Bloom filter over threads per core",
            "000 Fig 1.1, 004 Fig 1",
            FITTED_NOTHING,
            "both curves",
            x="threads per core",
            y="membership tests in a us",
            curves=tuple(curves),
            notes=(NO_POINTS,),
        ),
    )
