"""Lookahead: for how long core groups go on without feeling one another (docs/machine.md, section 6)."""

from dataclasses import dataclass

from simtmm.machine import Machine


@dataclass(frozen=True)
class Lookahead:
    """From what one core group does until another one can feel it, at least [ticks], by the way that it takes."""

    memory: int
    """By an access that leaves its group, until another group has the answer to one of its own."""
    placing: int
    """By a block that ends, until the first warp begins of a block that is placed for it."""
    grid_barrier: int
    """By a warp that comes to a grid barrier, until others go on behind it."""

    @property
    def ticks(self) -> int:
        """By any of these."""
        return min(self.memory, self.placing, self.grid_barrier)


def lookahead_of(machine: Machine) -> Lookahead:
    """What a machine guarantees under rules of its own, without mbarriers of other blocks [ticks].

    machine: any.
    """
    memory, durations = machine.memory, machine.durations
    answers = [durations.latency]
    if memory.stores != "posted":
        answers.append(durations.store_latency)
    if memory.shared_l1:
        answers.append(durations.shared_l1_latency)
    if memory.l2:
        answers.append(durations.l2_latency)
        if memory.l2.atomics == "here":
            answers.append(durations.atomic_latency)
    if memory.last_level:
        answers.append(durations.last_level_latency)
    counts_returned = durations.return_interval > 0 or durations.return_delay > 0
    if memory.l1 and (memory.shared_l1 or memory.l2 or memory.last_level) and counts_returned:
        answers.append(durations.l1_latency)
    return Lookahead(
        memory=min(answers),
        placing=durations.block_launch + durations.warp_launch,
        grid_barrier=max(1, durations.grid_barrier),
    )
