"""Right kernels that wait: locks, tickets, look-backs, barriers of grids and the like, one phase after the other.

`python -m tests.cuda.livelock.phases --count N --seed S` draws and runs N, and says how many were accused: none may be.
"""

import argparse
import random
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_files
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.control_flow.edges import WAITING_ROUNDS
from simtmm.cuda.execution.launches import launch as launch_states
from simtmm.cuda.execution.launches.launch import LaunchState
from simtmm.cuda.execution.livelock import watch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import machine_function

SOURCE = Path(__file__).with_name("phases.cu")
WORDS = 64  # of a phase's own
VALUE = 8  # the word in which its outcome stands
KINDS = (
    "LOCK", "EACH", "TICKET", "GRID", "CHAIN", "LOOKBACK", "FLAG", "QUEUE", "COUNT", "PINGPONG", "TRYLOCK", "WRAP",
    "READERS", "LATE", "SAME", "DOWN", "TOGGLE", "LOCAL", "SHARED", "CLOCK", "SLEEP", "VOTE",
)  # fmt: skip
PATIENCE = 300  # seconds; a kernel that never ends fails, and holds nobody up


@dataclass(frozen=True)
class Phase:
    """A way to wait. before, within: trips of a loop that computes. number: how often, or how many."""

    kind: str
    before: int
    within: int
    number: int

    def outcome(self, blocks: int, threads: int) -> int:
        """What it leaves as its value."""
        match self.kind:
            case "EACH":
                return blocks * threads
            case "GRID":
                return self.number
            case "CHAIN" | "LOOKBACK":
                return blocks * (blocks + 1) // 2
            case "PINGPONG":
                return blocks * self.number
            case "READERS":
                return -(-blocks // 3)
        return blocks


@dataclass(frozen=True)
class Waiting:
    """A launch of phases."""

    blocks: int
    threads: int
    phases: tuple[Phase, ...]


def drawn(seed: object) -> Waiting:
    """One that a seed stands for."""
    luck = random.Random(str(seed))
    phases = tuple(
        Phase(luck.choice(KINDS), luck.choice((0, 0, 30, 3000)), luck.choice((0, 0, 20, 500, 5000)), luck.randint(1, 4))
        for _ in range(luck.randint(1, 3))
    )
    return Waiting(luck.choice((1, 2, 2, 3, 5, 8)), luck.choice((1, 31, 32, 33, 64, 96)), phases)


@cache
def kernel(machine_code: bool = False) -> KernelFunction:
    """The kernel, as PTX or as machine code."""
    function = KernelFunction(LinkedModule(compile_files(SOURCE, architecture=90)), "phases")
    if machine_code:
        lifted, why = machine_function(function)
        assert lifted is not None, why
        return lifted.quick
    return function.quick


def run(waiting: Waiting, function: KernelFunction, record: bool = False) -> list[int]:
    """What the phases of a launch leave. Raises what `Device.run` raises."""
    device, count = Device(), len(waiting.phases)
    rows = [(KINDS.index(each.kind), each.before, each.within, each.number) for each in waiting.phases]
    words = np.zeros((count, WORDS), np.int32)
    out = np.zeros(waiting.blocks, np.int32)
    arrays = {
        "phase": np.array(rows, np.int32),
        "words": words,
        "flags": np.zeros((count, 3, waiting.blocks), np.int32),
        "sums": np.zeros((count, waiting.blocks), np.int32),
        "out": out,
    }
    device.symbols(function.linked)
    at = {name: device.memory.place(name, array) for name, array in arrays.items()}
    parameters = struct.pack("<QixxxxQQQQ", at["phase"], count, at["words"], at["flags"], at["sums"], at["out"])
    launch = DeviceLaunch((waiting.blocks, 1, 1), (waiting.threads, 1, 1), parameters)
    for _ in device.run(function, launch, record, seconds=PATIENCE):
        pass
    assert list(out) == [count - 1] * waiting.blocks
    return [int(each) for each in words[:, VALUE]]


@contextmanager
def looked_at_each_turn(always: bool = False) -> Iterator[dict[str, int]]:
    """Have turns of one trip, and somebody look after each; gives how often blocks had come back to a state.

    always: whether all code is watched, whatever the state.
    """
    seen = {"back": 0}
    is_back, begun = watch._Past.is_back, LaunchState.__init__

    def back(self, *given) -> bool:
        found = is_back(self, *given) or always
        seen["back"] += found
        return found

    def begin(self, program, *given) -> None:
        begun(self, program, *given)
        self.launch["fuel"] = program.fuel // WAITING_ROUNDS

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(watch, "LOOK_SECONDS", 0.0)
        patches.setattr(watch, "ROUNDS", 1)
        patches.setattr(launch_states, "ROUNDS", 1)
        patches.setattr(watch._Past, "is_back", back)
        patches.setattr(LaunchState, "__init__", begin)
        yield seen


def expected(waiting: Waiting) -> list[int]:
    """What they must leave."""
    return [each.outcome(waiting.blocks, waiting.threads) for each in waiting.phases]


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began, wrong, back = time.monotonic(), 0, 0
    for number in range(given.count):
        waiting = drawn(f"{given.seed}/{number}")
        try:
            with looked_at_each_turn(number % 3 == 2) as seen:
                found = run(waiting, kernel(), number % 2 == 1)
            what = "" if found == expected(waiting) else f"left {found} for {expected(waiting)}"
            back += seen["back"]
        except Exception as error:
            what = str(error)
        if what:
            wrong += 1
            print(number, waiting, what, flush=True)
    took = time.monotonic() - began
    print(f"{given.count} launches, {wrong} wrong or accused; {back} times watched; {took:.0f} s")


if __name__ == "__main__":
    _main()
