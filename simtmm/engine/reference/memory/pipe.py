"""The pipe that accesses of a group's L1 and shared memory pass (docs/machine.md, section 4): one by one, in order."""

from collections import deque

from simtmm.machine import Machine


class Stages:
    """Until when the stages of a pipe are taken: where accesses come in, where lines are looked up, and the banks."""

    def __init__(self) -> None:
        self.entry = 0
        self.tags = 0
        self.banks = 0


class AccessPipe:
    """The pipe of a group, and that of its shared memory, which is the same one or another."""

    def __init__(self, machine: Machine) -> None:
        takes, pipe = machine.durations, machine.memory.pipe
        self.access_interval = takes.access_interval
        self.tag_interval = takes.tag_interval
        self.pass_interval = takes.pass_interval
        self.shared_pass, self.shared_latency = takes.shared_pass, takes.shared_latency
        self.fill_interval = takes.fill_interval
        self.fill_free = 0
        self.drain_interval = takes.drain_interval
        self.drain_free = 0
        self.arrivals: deque[int] = deque(maxlen=pipe.misses if pipe else None)  # of the latest chunks that it lacked
        self.most_misses = pipe.misses if pipe else None
        self.stages = Stages()
        self.of_shared = Stages() if pipe and pipe.shared == "apart" else self.stages

    def enter(self, stages: Stages, now: int) -> int:
        """When the pipe takes in an access that leaves its issue port now."""
        begin = max(now, stages.entry)
        stages.entry = begin + self.access_interval
        return begin

    def access(self, passes: int, now: int) -> int:
        """A global access comes: the tick at which its last pass over the banks begins."""
        stages = self.stages
        stages.tags = max(self.enter(stages, now), stages.tags)
        first = max(stages.tags, stages.banks)
        stages.banks = first + passes * self.pass_interval
        return first + (passes - 1) * self.pass_interval

    def look_up(self) -> int:
        """When the next line of the access is looked up."""
        start = self.stages.tags
        self.stages.tags += self.tag_interval
        return start

    def fetch(self, taken: int, start: int, now: int) -> int:
        """When a chunk of a load goes on its way that the L1 lacks, which it does not before `start`.

        taken: how long that takes the way.
        """
        begin = max(now, self.fill_free)
        self.fill_free = begin + taken
        start = max(start, begin)
        return max(start, self.arrivals[0]) if len(self.arrivals) == self.most_misses else start

    def drain(self, taken: int, start: int, now: int) -> int:
        """When a chunk of a store goes out of the group, which it does not before `start`.

        taken: how long that takes the way.
        """
        begin = max(now, self.drain_free)
        self.drain_free = begin + taken
        return max(start, begin)

    def arrives(self, finish: int) -> None:
        """The chunk is there at a tick."""
        if self.most_misses:
            self.arrivals.append(finish)

    def take_in(self, chunks: int, now: int) -> int:
        """When the last of so many chunks that other groups called for comes in, one behind another."""
        begin = max(now, self.fill_free)
        self.fill_free = begin + chunks * self.fill_interval
        return self.fill_free - self.fill_interval

    def take_banks(self, passes: int, now: int) -> int:
        """A product's factors are read there, or what a copy brings is written: when the banks are free again."""
        self.of_shared.banks = max(now, self.of_shared.banks) + passes * self.shared_pass
        return self.of_shared.banks

    def access_shared(self, passes: int, now: int) -> tuple[int, int]:
        """A shared access comes: the tick from which on its value may be used, and when the banks are free again."""
        stages = self.of_shared
        first = max(self.enter(stages, now), stages.banks)
        stages.banks = first + passes * self.shared_pass
        return first + (passes - 1) * self.shared_pass + self.shared_latency, stages.banks
