"""Barriers of a block: threads are counted, and wait for the rest."""

from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread
from tests.cuda.interpreter.warps import Gathered


class Barrier:
    """One of a block's sixteen. expected: how many threads; None for all that live."""

    def __init__(self) -> None:
        self.expected: int | None = None
        self.waiting: list[tuple[Thread, Instruction]] = []
        self.arrived: list[Thread] = []

    def complete(self, threads: list[Thread]) -> bool:
        """Whether all are here. A warp that has come counts in full, with those of its threads that ended."""
        here = [thread for thread, _ in self.waiting] + self.arrived
        if not here:
            return False
        if self.expected is None:
            return all(thread.done or thread in here for thread in threads)
        count = len(here)
        for warp in {id(thread.warp): thread.warp for thread in here}.values():
            count += 32 - sum(not thread.done for thread in warp.threads.values())
        return count >= self.expected

    def release(self) -> None:
        """Let all go on, with what they reduce."""
        waiting, self.waiting, self.arrived, self.expected = self.waiting, [], [], None
        votes = [
            thread.read(instruction.operands[-1], "pred") for thread, instruction in waiting if instruction.has("red")
        ]
        for thread, instruction in waiting:
            thread.waiting = None
            if instruction.has("popc"):
                thread.write(instruction.operands[0], "u32", sum(votes))
            elif instruction.has("red"):
                thread.write(instruction.operands[0], "pred", int((all if instruction.has("and") else any)(votes)))


@opcode("bar", "barrier")
def barrier(thread: Thread, instruction: Instruction) -> None:
    """sync, arrive and red of a block, or sync of a warp."""
    if instruction.has("warp"):
        thread.warp.gather(thread, instruction, thread.read(instruction.operands[0], "b32"), _nothing)
        return
    if instruction.has("cluster"):
        _of_cluster(thread, instruction)
        return
    operands = list(instruction.operands)
    if instruction.has("red"):
        operands = operands[1:-1]
    held = thread.block.barriers[thread.read(operands[0], "u32") if operands else 0]
    count = thread.read(operands[1], "u32") if len(operands) > 1 else None
    if (held.waiting or held.arrived) and held.expected != count:
        raise ValueError(f"{count or 'all'} threads are expected, but {held.expected or 'all'} by those that wait")
    held.expected = count
    if instruction.has("arrive"):
        held.arrived.append(thread)
    else:
        thread.waiting = instruction
        held.waiting.append((thread, instruction))
    if held.complete(thread.block.threads):
        held.release()


class ClusterBarrier:
    """That of a cluster, which is a block: who has arrived since all had, and who waits for the others."""

    def __init__(self) -> None:
        self.arrived: list[Thread] = []
        self.waiting: list[Thread] = []

    def check(self, threads: list[Thread]) -> None:
        """Let those go on who wait, if all have arrived that live."""
        if self.arrived and all(thread.done or thread in self.arrived for thread in threads):
            for thread in self.waiting:
                thread.waiting = None
            self.arrived, self.waiting = [], []


def _of_cluster(thread: Thread, instruction: Instruction) -> None:
    """arrive, and wait, which passes who has not arrived since all had."""
    held = thread.block.cluster
    if instruction.has("arrive"):
        held.arrived.append(thread)
    elif thread in held.arrived:
        held.waiting.append(thread)
        thread.waiting = instruction
    held.check(thread.block.threads)


def _nothing(gathered: Gathered) -> None:
    """Gathering is all that a warp's barrier does."""
