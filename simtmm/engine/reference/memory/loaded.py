"""What warps loaded from global memory, for which their stores wait (docs/machine.md, section 4)."""

from simtmm.machine import Machine
from simtmm.workload import STORE


class Loaded:
    """By a warp's group and slot: chunks that its latest loads brought, and until when others count together."""

    def __init__(self, machine: Machine) -> None:
        self.return_interval, self.return_delay = machine.durations.return_interval, machine.durations.return_delay
        self.has_pipes = machine.memory.pipe is not None
        self.loaded: dict[tuple[int, int], tuple[int, int]] = {}

    def begin(self, group: int, slot: int) -> None:
        """A warp is placed: it has loaded nothing so far."""
        self.loaded[group, slot] = 0, 0

    def load(self, warp: tuple[int, int], chunks: int, now: int, finish: int) -> None:
        """Count what a warp's loads brought from global memory: those of before count while one is on its way."""
        loaded, until = self.loaded.get(warp, (0, 0))
        self.loaded[warp] = chunks + (loaded if now < until else 0), max(finish, until)

    def waited(self, group: int, slot: int) -> None:
        """A warp waits for loads: those so far and those to come do not count together."""
        loaded, _ = self.loaded[group, slot]
        self.loaded[group, slot] = loaded, 0

    def take(self, kind: int, group: int, slot: int) -> tuple[int, int]:
        """How much later a store's first chunk starts, and each other one, for what its warp loaded before."""
        if kind != STORE:
            return 0, 0
        loaded, until = self.loaded.get((group, slot), (0, 0))
        self.loaded[group, slot] = 0, until
        if not loaded:
            return 0, 0
        return self.return_delay + loaded * self.return_interval, self.return_delay if self.has_pipes else 0
