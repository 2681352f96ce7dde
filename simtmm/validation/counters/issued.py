"""The machine's instructions behind the sites of a trace, in the classes that NVIDIA's profiler tells apart.

Nsight Compute counts, of each class, the threads that executed an instruction with a true predicate
(smsp__sass_thread_inst_executed_op_CLASS_pred_on), and of all together the warps that issued it, whatever the
predicates (smsp__inst_executed). Its manual names no opcodes: those of a class here are what adds up to its numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from simtmm.cuda.machine_function import MachineFunction
from simtmm.cuda.ptx.flow.steps import Step
from simtmm.cuda.sass.syntax import MachineInstruction
from simtmm.cuda.sass.work import class_of
from simtmm.stalls import class_among
from simtmm.validation.counters.executions import Executions, Integers

CLASSES = ("fp32", "integer", "control", "memory", "misc", "other")

_JUMPS = {"BRA", "EXIT"}
_OF_OPCODE = {
    **dict.fromkeys(("BRA", "BRX", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "YIELD"), "control"),
    **dict.fromkeys(("LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDC", "ULDC"), "memory"),
    **dict.fromkeys(("MOV", "UMOV", "S2R", "S2UR", "CS2R", "BMOV", "BAR", "NOP", "DEPBAR", "R2UR"), "misc"),
}


def profiler_class(instruction: MachineInstruction) -> str:
    """The class, one of CLASSES, that an instruction is counted in."""
    found = _OF_OPCODE.get(instruction.opcode) or class_among(class_of(instruction), CLASSES)
    return found if found in CLASSES else "other"


@dataclass(frozen=True)
class SiteIssue:
    """What the machine issues at a site.

    always: instructions whose predicate is true of all threads that come here, by class. mostly: likewise those of a
    predicate that the trace does not tell: counted for all. jump: the class of a predicated jump at its end, which the
    threads that go on to the next site do not take; "" for none. access: the class of the access, whose events are of
    threads with a true predicate alone; "" for none. is_predicated: whether the access is.
    """

    always: Mapping[str, int] = field(default_factory=dict)
    mostly: Mapping[str, int] = field(default_factory=dict)
    jump: str = ""
    access: str = ""
    is_predicated: bool = False


class IssuedInstructions:
    """What a kernel's machine code issues at each of the sites of its trace.

    function: the kernel, the only one of the trace: its sites are numbered as there.
    """

    def __init__(self, function: MachineFunction) -> None:
        self._instructions = {each.text: each for each in function.lifted.listing.instructions}
        self.sites: list[SiteIssue] = []
        self._blocks: list[range] = []  # of sites
        behind: list[int | None] = []
        through: list[int | None] = []  # the only block that can follow one
        for code in function.program.codes:
            first = len(self._blocks)
            for block in code.flow.blocks:
                start = len(self.sites)
                self.sites += [self._issue(step) for step in code.steps[block.number] if step.is_recorded]
                self._blocks.append(range(start, len(self.sites)))
                behind.append(None if block.behind is None else first + block.behind)
                through.append(first + block.targets[0] if len(set(block.targets)) == 1 else None)
        self.followers: dict[int, int] = {}
        for own, following in zip(self._blocks, behind, strict=True):
            while following is not None and not self._blocks[following]:  # blocks of nothing
                following = through[following]
            if own and following is not None:
                self.followers[own[-1]] = self._blocks[following][0]

    def _issue(self, step: Step) -> SiteIssue:
        always: dict[str, int] = {}
        mostly: dict[str, int] = {}
        jump = access = ""
        is_predicated = False
        for instruction in step.instructions:
            if instruction.issue is None or instruction.issue.work is None:
                continue
            machine = self._instructions[instruction.text]
            name = profiler_class(machine)
            predicated = machine.guard is not None and not machine.guard.is_zero
            if step.kind != "work" and instruction is step.instructions[-1]:
                access, is_predicated = name, predicated
            elif predicated and machine.opcode in _JUMPS:
                jump = name
            else:
                into = mostly if predicated else always
                into[name] = into.get(name, 0) + 1
        return SiteIssue(always, mostly, jump, access, is_predicated)

    def by_threads(self, counted: Executions) -> dict[str, Integers]:
        """Of each block, instructions executed by threads, by class; `counted` of this kernel, with `followers`."""
        found = {name: np.zeros(len(counted.blocks), np.int64) for name in CLASSES}
        for number, site in enumerate(self.sites):
            threads = counted.threads[:, number]
            for issued in (site.always, site.mostly):
                for name, count in issued.items():
                    found[name] += threads * count
            if site.jump:
                found[site.jump] += threads - counted.onwards[:, number]
            if site.access:
                found[site.access] += threads
        return found

    def by_warps(self, counted: Executions) -> Integers:
        """Of each block, instructions issued by warps, those that no thread's predicate is true of included."""
        found = np.zeros(len(counted.blocks), np.int64)
        for block in self._blocks:
            came = counted.warps[:, block.start : block.stop].max(axis=1, initial=0)
            for number in block:
                site, warps = self.sites[number], counted.warps[:, number]
                alone = sum(site.always.values()) + sum(site.mostly.values()) + bool(site.jump)
                found += warps * alone
                if site.access:
                    found += came if site.is_predicated else warps
        return found
