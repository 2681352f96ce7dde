"""A program's launches, run one after another: the one way in which every recorder goes through them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from simtmm.errors import RecordingError, shown
from simtmm.kernel import Array, Kernel, Launch, Wrong
from simtmm.recorder.cpu.unrecorded import HOW, Unrecorded
from simtmm.recorder.limits import MOST_LAUNCHES
from simtmm.trace.schema import Batch, TraceLaunch
from simtmm.watch import foresee_events, tell


class Execution(Protocol):
    """What runs launches: on the CPU (cpu/launches.py), on a GPU (gpu/launches.py)."""

    def run(self, launch: Launch, number: int) -> Iterator[Batch]:
        """Run a launch and yield its events; at the end the arrays are what it left behind."""
        ...

    def described(self, launch: Launch) -> TraceLaunch:
        """The launch as a trace describes it."""
        ...

    def writable(self, launch: Launch) -> Sequence[str]:
        """The arrays that a launch may write to."""
        ...

    @property
    def has_accessed(self) -> bool:
        """Whether the launch run last has recorded any access."""
        ...

    def has_stored(self, name: str) -> bool:
        """Whether the launch run last has stored to that array or updated it."""
        ...


class ProgramRun:
    """One run of a kernel with its parameters.

    before: copies of the arrays, as they are before the first launch. launches: those that have begun, as a trace
    describes them. events: that have come so far.
    """

    def __init__(
        self,
        kernel: Kernel,
        parameters: Mapping[str, int | float | str],
        arrays: Mapping[str, Array],
        execution: Execution,
        how: str = HOW,
        before: Mapping[str, Array] | None = None,
    ) -> None:
        """arrays: as the launches change them. how: what is recorded, as warnings of silent launches say it.
        before: copies of the arrays, where there are any.
        """
        self.kernel, self.parameters = kernel, dict(parameters)
        self.before = before or {name: array.copy() for name, array in arrays.items()}
        self.launches: list[TraceLaunch] = []
        self.events = 0
        self._arrays, self._execution = arrays, execution
        self._unrecorded = Unrecorded(arrays, self.before, how)

    def batches(self) -> Iterator[Batch]:
        """Run all launches and yield their events, those of `launches[-1]`. Raises RecordingError."""
        execution = self._execution
        known = self.kernel.blocks_of_launches(self.parameters)
        for launch in self.kernel.launches(self.parameters, self._arrays):
            number = len(self.launches)
            if number == MOST_LAUNCHES:
                raise RecordingError(
                    f"kernel {self.kernel.name}: launch {number} of {shown(launch.kernel)}: {self.events:,} events so "
                    "far, and a trace can't have more launches: does host.py launch for ever?"
                )
            self.launches.append(execution.described(launch))
            self._unrecorded.begin(execution.writable(launch), self.events)
            stage, before, blocks = self._progress(known)
            earlier = 0 if known is not None else self.events
            for batch in execution.run(launch, number):
                self.events += batch.count
                ended = before + int(batch.block.max(initial=-1)) + 1
                tell(stage, ended, blocks)
                if ended > 0:
                    foresee_events(earlier + (self.events - earlier) * blocks / ended)
                yield batch
            self._unrecorded.end(self.launches[-1].kernel, number, execution.has_accessed, execution.has_stored)

    def _progress(self, known: Sequence[int] | None) -> tuple[str, int, int]:
        """What is under way, its blocks that are done, and all: of this launch, or of all where they are known."""
        at = len(self.launches) - 1
        if known is not None:
            return "recording", sum(known[:at]), sum(known)
        return f"recording launch {at}" if at else "recording", 0, self.launches[-1].blocks

    def warnings(self) -> list[str]:
        """What the launches did without recording it, in words."""
        return self._unrecorded.warnings()

    def check(self, explained: Callable[[Wrong], str] = lambda wrong: "") -> None:
        """Raise RecordingError where the answer is wrong. explained: what else there is to say of it, behind it."""
        wrong = self.kernel.check(self.parameters, self.before, self._arrays)
        if wrong:
            raise RecordingError(f"kernel {self.kernel.name}: wrong answer: {wrong}{explained(wrong)}")


def trace_launch(launch: Launch) -> TraceLaunch:
    """The launch as a trace describes it."""
    grid, block = launch.grid, launch.block
    assert isinstance(grid, tuple)
    assert isinstance(block, tuple)
    return TraceLaunch(
        launch.kernel,
        (grid[0], grid[1], grid[2]),
        (block[0], block[1], block[2]),
        launch.registers_per_thread,
        launch.shared_memory_bytes,
    )
