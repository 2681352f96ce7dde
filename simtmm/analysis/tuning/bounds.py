"""The least time of a configuration, by its code and the machine's rules, before anything of it runs."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.least.deciding import NOTHING, Cost, Stretch, stretches
from simtmm.cuda.least.ranges import Known
from simtmm.cuda.least.walk import least_of
from simtmm.cuda.machine_function import machine_function
from simtmm.errors import InternalError
from simtmm.kernel import Array, Launch
from simtmm.machine import Machine
from simtmm.model.launch.least_time import LeastTime, LeastWork, least_time
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.sampling.recording import KernelSource
from simtmm.trace.schema import TraceLaunch

MOST_WALKS = 32  # through kernels, of a configuration: launches beyond are taken to do nothing
AXES = "xyz"
Form: TypeAlias = tuple[FunctionCode, tuple[Stretch, ...]]
Box: TypeAlias = tuple[tuple[int, int], ...]
"""Blocks of a grid, by axis: the first and the last."""


class BoundedSource(KernelSource):
    """A kernel with its parameters of which the least time can be told."""

    def _check(self, arrays: Mapping[str, Array]) -> None:
        """Blocks may depend on one another here: whichever way they go, it is one of all."""

    def least_time(self, machine: Machine) -> LeastTime:
        """The least that its launches take on a machine. Raises MachineError where a block does not fit."""
        if self._form == "written":
            return least_time(machine, [(described, (LeastWork(described.blocks),)) for described in self.launches])
        execution = self._without_data(self._inputs)
        known: dict[object, Sequence[LeastWork]] = {}
        walks = itertools.count()
        launches = []
        for launch, described in zip(self._launches, self.launches, strict=True):
            key, work = self._least_work(execution, launch, described, known, walks)
            known[key] = work
            launches.append((described, work))
        return least_time(machine, launches)

    def _least_work(
        self,
        execution: CompiledLaunches,
        launch: Launch,
        described: TraceLaunch,
        known: dict[object, Sequence[LeastWork]],
        walks: "itertools.count[int]",
    ) -> tuple[object, Sequence[LeastWork]]:
        """What a launch does at least, and by what others do the same."""
        parameters = execution.parameters(launch, f"kernel {self.name}")
        function = execution.function(launch.kernel)
        key = (function.entry, described.grid, described.block, parameters)
        if key in known:
            return key, known[key]
        if next(walks) >= MOST_WALKS:
            return key, (LeastWork(described.blocks),)
        return key, tuple(_parts(self._forms(function), described, parameters))

    def _forms(self, function: KernelFunction) -> list[Form]:
        """The forms in which a kernel may be recorded: as machine code, and, where that differs from it, as PTX."""
        forms = [function]
        if self._form != "ptx":
            with suppress(InternalError):  # which recording it tells of
                machine_code, _ = machine_function(function)
                forms += [machine_code] if machine_code is not None else []
        if any(each.program.has_calls for each in forms):
            return []
        return [(each.program.entry_code, stretches(each.program.entry_code)) for each in forms]


def _parts(forms: Sequence[Form], launch: TraceLaunch, parameters: bytes) -> Iterator[LeastWork]:
    """What the blocks inside a grid do at least, and those at its edges."""
    grid, block = _three(launch.grid), _three(launch.block)
    whole: Box = tuple((0, size - 1) for size in grid)
    inner: Box = tuple((1, size - 2) if size > 2 else (0, size - 1) for size in grid)
    number_inner = 1
    for first, last in inner:
        number_inner *= last - first + 1
    everywhere = _least(forms, whole, grid, block, parameters)
    inside = _least(forms, inner, grid, block, parameters) if inner != whole else everywhere
    yield _work(number_inner, inside)
    if launch.blocks > number_inner:
        yield _work(launch.blocks - number_inner, everywhere)


def _work(blocks: int, cost: Cost) -> LeastWork:
    instructions, shared, loads, stores, stall, *of_class = cost
    return LeastWork(blocks, instructions, shared, loads, stores, stall, tuple(of_class))


def _least(forms: Sequence[Form], blocks: Box, grid: Sequence[int], block: Sequence[int], parameters: bytes) -> Cost:
    """What each thread of some blocks does at least, in whichever form it is recorded."""
    specials: dict[str, Known] = {}
    for axis, name in enumerate(AXES):
        specials[f"%tid.{name}"] = (0, block[axis] - 1)
        specials[f"%ctaid.{name}"] = blocks[axis]
        specials[f"%ntid.{name}"] = (block[axis], block[axis])
        specials[f"%nctaid.{name}"] = (grid[axis], grid[axis])
    costs = [least_of(code, specials, _Parameters(code, parameters), parts) for code, parts in forms]
    return tuple(map(min, zip(*costs, strict=True))) if costs else NOTHING


class _Parameters:
    """What the parameters of a launch hold."""

    def __init__(self, code: FunctionCode, packed: bytes) -> None:
        self._places, self._packed = code.parameters, packed

    def __call__(self, name: str, offset: int, size: int) -> Known:
        at = self._places.get(name, len(self._packed)) + offset
        if at + size > len(self._packed):
            return None
        value = int.from_bytes(self._packed[at : at + size], "little", signed=True)
        return value, value


def _three(sizes: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
