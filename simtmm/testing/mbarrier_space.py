"""Launches whose warps use mbarriers, copies in bulk, products, registers: as pipelines do, and as no program would."""

from typing import Any

from simtmm.testing.draw import Draw
from simtmm.testing.space import Operation, Tables, operation, operation_alone
from simtmm.workload import Workload

ACTIONS = ("init", "arrive", "expect", "complete", "meet", "arrive-copied", "complete-sent", "complete-multicast")


def _near_chunk(draw: Draw) -> int:
    return draw.whole(0, 40)


def copy(draw: Draw) -> Operation:
    """A copy in bulk."""
    return ["copy", draw.many(_near_chunk, 1, 6)]


def stored(draw: Draw) -> Operation:
    """A store, or the end of a group of them."""
    return ["store", draw.many(_near_chunk, 1, 6)] if draw.flag() else ["store_group"]


def registers(draw: Draw) -> Operation:
    """Registers that a warp gives back, or takes."""
    return [draw.one_of(("give_registers", "take_registers")), draw.whole(1, 3)]


def pipeline(draw: Draw) -> Tables:
    """A block with a warp that fills stages and others that empty them, with anything in between."""
    stages, rounds, consumers = draw.whole(1, 3), draw.whole(1, 5), draw.whole(1, 3)
    remote = [1] if draw.flag() else []  # whether consumers arrive at another block's mbarriers
    begin: list[Operation] = [["mbarrier", "init", stage, 1] for stage in range(stages)]
    begin += [["mbarrier", "init", 8 + stage, consumers] for stage in range(stages)]
    producer: list[Operation] = [*begin, ["sync"]]
    others: list[list[Operation]] = [[["sync"]] for _ in range(consumers)]
    if draw.flag():  # often so few that some wait for ever
        producer += [*draw.many(operation_alone, 0, 2), ["give_registers", draw.whole(1, 24)]]
        others = [[*warp, ["take_registers", draw.whole(1, 6)]] for warp in others]
    for turn in range(rounds):
        stage, phase = turn % stages, turn // stages % 2
        producer += [*draw.many(operation_alone, 0, 2), ["mbarrier", "wait", 8 + stage, 1 - phase]]
        others_bytes = draw.one_of((0, 0, 128, 700))  # of what other blocks of the cluster multicast
        producer += [["mbarrier", "expect", stage, 64 + others_bytes], ["mbarrier", "arrive", stage, 1]]
        brought: list[Operation] = [["mbarrier", "complete", stage, 64]]
        if others_bytes:
            brought.insert(draw.whole(0, 1), ["mbarrier", "complete-multicast", stage, others_bytes, 1])
        producer += [copy(draw), *brought]
        for warp in others:
            warp += [["mbarrier", "wait", stage, phase], *draw.many(operation_alone, 0, 2)]
            warp += [["product", draw.whole(1, 9), draw.whole(0, 5)], ["finish", draw.whole(0, 2)]]
            warp.append(["mbarrier", "arrive", 8 + stage, 1, *remote])
            warp += [stored(draw), stored(draw), ["drain", draw.whole(0, 2)]] if draw.flag() else []
            warp += [["give_registers", draw.whole(1, 3)]] if draw.whole(0, 3) == 0 else []
    ends = [["mbarrier", "meet", 20, consumers]] if draw.flag() else []
    return {"warps": [producer, *([*warp, *ends, *draw.many(operation_alone, 0, 2)] for warp in others)]}


def _at_mbarriers(draw: Draw) -> Operation:
    match draw.whole(0, 6):
        case 0:
            action, barrier = draw.one_of(ACTIONS), draw.whole(0, 1)
            count = draw.whole(1, 2) if draw.flag() else draw.whole(1, 600)
            return ["mbarrier", action, barrier, count, draw.whole(0, 1)]
        case 1:
            return ["mbarrier", "wait", draw.whole(0, 1), draw.whole(0, 1)]
        case 2:
            return ["product", draw.whole(1, 9), draw.whole(0, 4)]
        case 3:
            return ["finish", draw.whole(0, 2)]
        case 4:
            return stored(draw)
        case 5:
            return ["drain", draw.whole(0, 3)] if draw.flag() else registers(draw)
        case _:
            return copy(draw)


def _any_operation(draw: Draw) -> Operation:
    return operation(draw) if draw.whole(0, 2) == 0 else _at_mbarriers(draw)


def _any_warp(draw: Draw) -> list[Any]:
    return draw.many(_any_operation, 0, 8)


def anything(draw: Draw) -> Tables:
    """A block whose warps do anything at two mbarriers; many of them wait forever."""
    begin: list[Operation] = [["mbarrier", "init", number, 1] for number in range(2)]
    begin += [["give_registers", 6]]
    return {"warps": [begin + warp for warp in draw.many(_any_warp, 1, 4)]}


def mbarrier_workload(draw: Draw) -> Workload:
    """A launch of such blocks, more often pipelines."""
    blocks = draw.many(draw.one_of((pipeline, pipeline, anything)), 1, 5)
    return Workload.from_dict({"launches": [{"blocks": blocks, "cluster": draw.whole(1, 2)}]})
