"""The sites of compiled kernels: lines of the user's source, with the instructions compiled from them."""

import re
from collections.abc import Sequence

import numpy as np

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.execution.translation.facts import fact, instructions_of
from simtmm.cuda.execution.translation.program import Program, Site
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.log.events import SiteTable
from simtmm.cuda.ptx.flow.steps import COPIES, Step, space_of
from simtmm.cuda.ptx.syntax import Instruction, Location
from simtmm.trace.schema import Kind, TraceSite


class CompiledSites:
    """The sites of the kernels of a program, in the order in which they are launched first."""

    def __init__(self) -> None:
        self.sites: list[TraceSite] = []
        self._tables: dict[str, SiteTable] = {}
        self._first: dict[str, int] = {}
        self._values = 0

    def table(self, function: KernelFunction) -> SiteTable:
        """What the numbers in the log of a kernel stand for."""
        key = _key(function)
        if key not in self._tables:
            self._first[key] = len(self.sites)
            self._tables[key] = self._add(function)
        return self._tables[key]

    def first_of(self, function: KernelFunction) -> int | None:
        """The number of its first site here, which those of its program follow; None if it was not run."""
        return self._first.get(_key(function))

    def _add(self, function: KernelFunction) -> SiteTable:
        program, linked = function.program, function.linked
        first = len(self.sites)
        values = _Values(self._values)
        for site in program.sites:
            self.sites.append(_trace_site(len(self.sites), site, linked, values, program.states_waits))
        self._values = values.end
        shared, (file, _, _) = len(self.sites), linked.place(function.entry, None)
        self.sites.append(TraceSite(shared, "shared_array", file, 0, f"shared memory of {bare_name(function.entry)}"))
        steps = [site.step for site in program.sites]
        return SiteTable(
            site=np.arange(first, first + len(steps), dtype=np.int64),
            kind=np.array([Kind[step.kind.upper()] for step in steps], dtype=np.uint8),
            width=np.array([min(255, step.width) for step in steps], dtype=np.uint8),
            generic=np.array([_is_generic(step) for step in steps], dtype=np.bool_),
            issues=np.array([bool(step.work) for step in steps], dtype=np.bool_),
            shared_site=shared,
        )


def _key(function: KernelFunction) -> str:
    return f"{id(function.linked)} {function.entry} {type(function).__name__}"


class _Values:
    """Numbers of the registers that loads give, by function and name."""

    def __init__(self, first: int) -> None:
        self.end = first
        self._numbers: dict[tuple[str, str], int] = {}

    def of(self, function: str, names: Sequence[str]) -> tuple[int, ...]:
        """Those of registers."""
        for name in names:
            if (function, name) not in self._numbers:
                self._numbers[function, name] = self.end
                self.end += 1
        return tuple(self._numbers[function, name] for name in names)


def _is_generic(step: Step) -> bool:
    access = step.access
    return access is not None and step.kind not in ("mbarrier", "product") and space_of(access) == ""


def _trace_site(number: int, site: Site, linked: LinkedModule, values: _Values, states_waits: bool) -> TraceSite:
    step = site.step
    instruction = _naming_instruction(step)
    location = linked.readable_location(site.function, instruction.location) if instruction else None
    file, line, text = linked.place(site.function, location)
    return TraceSite(
        number,
        step.kind,
        file,
        line,
        text,
        instruction=instruction.text if instruction else "",
        function=bare_name(site.function),
        inlined=_inlined(linked, site.function, location),
        work=tuple(step.work.items()),
        needs=values.of(site.function, step.needs),
        gives=values.of(site.function, step.gives),
        stall=step.stall,
        unused=step.unused,
        commits=values.of(site.function, (COPIES,) * step.commits),
        in_flight=step.in_flight,
        sync=states_waits and step.kind == "barrier",
        results=tuple(
            (name, values.of(site.function, [board])[0], step.cycles - before) for name, board, before in step.results
        ),
        operand_cycles=tuple(step.operand_cycles.items()),
        product=step.product,
        cluster=_cluster(step),
        fences=tuple(step.fences.items()),
    )


def _cluster(step: Step) -> int:
    """Whether a step ends with a cluster's barrier: 1 if that is relaxed, 2 if it orders memory."""
    if step.kind != "barrier" or not step.instructions[-1].has("cluster"):
        return 0
    relaxed = any(each.opcode == "barrier" and each.has("relaxed") for each in step.instructions)
    return 1 if relaxed else 2


def _naming_instruction(step: Step) -> Instruction | None:
    """The instruction that stands for a step: its access, else the first that has a place in the source."""
    if step.kind != "work":
        return step.instructions[-1]
    named = [instruction for instruction in step.instructions if instruction.opcode]
    return next((i for i in named if i.location is not None), named[0] if named else None)


def _inlined(linked: LinkedModule, function: str, location: Location | None) -> tuple[tuple[str, int], ...]:
    calls = []
    while location is not None and location.inlined_at is not None:
        location = location.inlined_at
        file, line, _ = linked.place(function, location)
        calls.append((file, line))
    return tuple(calls)


@fact
def is_for_warps(program: Program) -> bool:
    """Whether a kernel has instructions that were compiled for warps of 32."""
    names = {
        "shfl", "vote", "match", "redux", "elect", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "activemask",
    }  # fmt: skip
    special = re.compile(r"%(laneid|lanemask_\w+|warpid|nwarpid)\b")
    return any(
        instruction.opcode in names
        or special.search(instruction.text)
        or (instruction.opcode == "bar" and "warp" in instruction.modifiers)
        for instruction in instructions_of(program)
    )
