"""Which variants a kernel has: other words in its source, other options of the compiler, other blocks."""

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from simtmm.analysis.compiled_variants.source_edits import bounded, loop_before, restricted, unbounded, unrolled
from simtmm.documents import read_code_text
from simtmm.errors import KernelError
from simtmm.kernel import Array, Kernel, Launch
from simtmm.machine import Machine
from simtmm.model.launch.occupancy import occupancy
from simtmm.trace.schema import TraceLaunch

UNROLLED = 8  # times
FEWEST_THREADS, MOST_THREADS = 32, 1024
FAST_MATH = "-use_fast_math"


@dataclasses.dataclass(frozen=True)
class Variant:
    """A kernel compiled or launched otherwise.

    change: a word of docs/why.md. words: what to write. at: file and line; "" and 0 for the launch. text: of the
    source, where that changes. options: of the compiler, beside the kernel's own. host: instead of the kernel's.
    """

    change: str
    words: str
    at: tuple[str, int] = ("", 0)
    text: str = ""
    options: tuple[str, ...] = ()
    host: ModuleType | None = None

    def kernel(self, of: Kernel, folder: Path) -> Kernel:
        """The kernel to compile. folder: that a changed source is written to."""
        (source, *_) = of.source_paths
        options, sources = (*of.options, *self.options), of.sources
        if self.text:
            path = folder / source.name
            path.write_text(self.text, encoding="utf-8")
            options, sources = (*options, f"-I{source.resolve().parent}"), (path,)
        return dataclasses.replace(of, options=options, sources=sources, host=self.host or of.host)


def variants_of(
    kernel: Kernel, machine: Machine, launches: tuple[TraceLaunch, ...], line: int = 0
) -> Iterator[Variant]:
    """Those of a kernel of one file. launches: of its run. line: the hottest one of the file; 0 where none is known."""
    (source, *more) = kernel.source_paths
    if more or source.suffix != ".cu" or not launches:
        return
    try:
        text = read_code_text(source, KernelError)
    except (KernelError, UnicodeDecodeError):
        return
    longest = max(launches, key=lambda each: each.blocks * each.threads_per_block)
    if (changed := restricted(text)) != text:
        words = "declare the kernel's pointers __restrict__, if no two of them reach the same memory"
        yield Variant("restrict", words, (source.name, 0), changed)
    loop = loop_before(text, line) if line else None
    if loop is not None and (changed := unrolled(text, loop, UNROLLED)) != text:
        yield Variant("unroll", f"unroll this loop: #pragma unroll {UNROLLED}", (source.name, loop), changed)
    yield from _bounds(text, source.name, machine, longest)
    if not any("fast_math" in option for option in kernel.options):
        words = f"compile with {FAST_MATH}: division, square roots and functions are approximated"
        yield Variant("fast math", words, (source.name, 0), options=(FAST_MATH,))
    yield from _blocks(kernel, launches, machine)


def _bounds(text: str, file: str, machine: Machine, launch: TraceLaunch) -> Iterator[Variant]:
    """Registers: more where they spill, fewer where they keep blocks out."""
    if launch.spill_bytes_per_thread and (changed := unbounded(text)) != text:
        yield Variant("launch bounds", "take __launch_bounds__ away: registers are spilled for it", (file, 0), changed)
        return
    found = occupancy(machine, launch)
    if found.bound != "registers":
        return
    threads, blocks = launch.threads_per_block, found.active_blocks + 1
    if (changed := bounded(text, launch.kernel, threads, blocks)) != text:
        now = f"registers allow {blocks - 1} blocks at a time now"
        words = f"give the kernel __launch_bounds__({threads}, {blocks}): {now}"
        yield Variant("launch bounds", words, (file, 0), changed)


def _blocks(kernel: Kernel, launches: tuple[TraceLaunch, ...], machine: Machine) -> Iterator[Variant]:
    """Blocks of half and of twice the threads, where there is one axis."""
    for each in launches:
        if max(*each.grid[1:], *each.block[1:]) > 1:
            return
    most = machine.resources.threads_per_block or MOST_THREADS
    for times in (0.5, 2):
        sizes = [each.block[0] * times for each in launches]
        if min(sizes) < FEWEST_THREADS or max(sizes) > most or sizes[0] != int(sizes[0]):
            continue
        if times > 1 and any(each.grid[0] % times for each in launches):
            continue
        words = f"launch blocks of {int(sizes[0])} threads instead of {launches[0].block[0]}"
        yield Variant("block size", words, host=_OtherBlocks(kernel.host, times))


class _OtherBlocks(ModuleType):
    """A kernel's host that launches as many threads in blocks of another size."""

    def __init__(self, host: ModuleType, times: float) -> None:
        super().__init__(host.__name__, host.__doc__)
        self._host, self._times = host, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def launches(self, parameters: Any, memory: Mapping[str, Array]) -> Iterator[Launch]:
        """Those of the host."""
        for launch in self._host.launches(parameters, memory):
            grid, block = (each if isinstance(each, int) else each[0] for each in (launch.grid, launch.block))
            yield dataclasses.replace(launch, grid=int(grid / self._times), block=int(block * self._times))
