"""The convolution whose counters were measured on an RTX 2080 Ti: its configurations, and traces of some blocks."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simtmm.cuda.compilers import Resources, compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from simtmm.cuda.parameters import pack
from simtmm.errors import StudyError
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder

SOURCE = Path(__file__).with_name("convolution.cu")
KERNEL = "convolution"
ARCHITECTURE = 75  # compute capability of an RTX 2080 Ti, times ten
WIDTH = HEIGHT = 4096  # outputs
FILTER = 15  # rows and columns of the filter
MOST_EVENTS = 1 << 28
FEW_THREADS = 256  # of a block; of larger ones fewer blocks run
TOLERANCE = 1e-5  # of sums of 225 products between 0 and 1, in whatever order


@dataclass(frozen=True)
class Configuration:
    """Sizes that the kernel is compiled for.

    block_size_x, block_size_y: threads of a block. tile_size_x, tile_size_y: outputs of a thread. read_only: whether
    pixels are loaded by __ldg. width, height: of the output. filter: rows and columns of the filter.
    """

    block_size_x: int
    block_size_y: int
    tile_size_x: int
    tile_size_y: int
    read_only: int
    width: int = WIDTH
    height: int = HEIGHT
    filter: int = FILTER

    def __str__(self) -> str:
        text = f"{self.block_size_x} x {self.block_size_y} threads, {self.tile_size_x} x {self.tile_size_y} outputs"
        return f"{text}, read-only" if self.read_only else text

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block."""
        return self.block_size_x, self.block_size_y, 1

    @property
    def tile(self) -> tuple[int, int]:
        """Outputs of a block, across and down."""
        return self.block_size_x * self.tile_size_x, self.block_size_y * self.tile_size_y

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks."""
        across, down = self.tile
        return -(-self.width // across), -(-self.height // down), 1

    @property
    def options(self) -> list[str]:
        """Macros for the compiler."""
        return [f"-D{name.upper()}={value}" for name, value in vars(self).items()]

    def samples(self) -> Iterator[tuple[int, list[int]]]:
        """Blocks that are alike, as far as borders go: how many there are, and numbers of some that stand for them.

        Blocks differ where their tile reaches over the right or the lower border, and else in where their rows begin
        in a sector: those taken are neighbours on a diagonal, which begin at different places.
        """
        (across, down, _), (wide, high) = self.grid, self.tile
        taken = 4 if self.block_size_x * self.block_size_y <= FEW_THREADS else 2
        columns = [range(across - 1), range(across - 1, across)] if self.width % wide else [range(across)]
        rows = [range(down - 1), range(down - 1, down)] if self.height % high else [range(down)]
        for inside, band in product(columns, rows):
            if inside and band:
                number = min(taken, max(len(inside), len(band)))
                x = [inside[(len(inside) // 2 + place) % len(inside)] for place in range(number)]
                y = [band[(len(band) // 2 + place) % len(band)] for place in range(number)]
                yield len(inside) * len(band), sorted({one + across * other for one, other in zip(x, y, strict=True)})


@dataclass(frozen=True)
class MeasuredCounters:
    """A configuration, and what a profiler counted of it: numbers by the file's names."""

    configuration: Configuration
    counters: dict[str, float]


def measured_counters(path: Path) -> list[MeasuredCounters]:
    """The rows of a file of counters. Raises StudyError for one that can't be read as such."""
    names = ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "read_only")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        return [
            MeasuredCounters(
                Configuration(*(int(row[name]) for name in names)),
                {name: float(value) for name, value in row.items() if name not in names},
            )
            for row in rows
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise StudyError(f"{path}: no table of counters ({error!r})") from None


class CompiledConvolution:
    """A configuration, compiled. Raises CompilerError, PtxError and SassError where that can't be done."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration

    @cached_property
    def linked(self) -> LinkedModule:
        """As PTX."""
        text, options = SOURCE.read_text(encoding="utf-8"), self.configuration.options
        return LinkedModule([compile_source(text, name=SOURCE.name, architecture=ARCHITECTURE, options=options)])

    @property
    def resources(self) -> Resources:
        """Registers, shared memory and spills, as the assembler tells them."""
        return self.linked.resources[KERNEL]

    @cached_property
    def function(self) -> MachineFunction:
        """As machine code."""
        return MachineFunction(KernelFunction(self.linked, KERNEL))

    def trace(self, blocks: list[int], seed: int = 0) -> Trace:
        """What these blocks do, of the whole launch, on random pixels.

        Raises StudyError where an output is not the sum that it should be.
        """
        c = self.configuration
        random = np.random.default_rng(seed)
        border = c.filter - 1
        image = random.random((c.height + border, c.width + border), dtype=np.float32)
        output = np.zeros((c.height, c.width), np.float32)
        device = Device()
        places = {id(array): device.memory.place(name, array) for name, array in (("output", output), ("input", image))}
        weights = device.variable(self.linked, "filter")[: 4 * c.filter**2].view(np.float32)
        weights[:] = random.random(c.filter**2, dtype=np.float32)
        packed = pack(self.function, [output, image], lambda array: places[id(array)], KERNEL)
        launch = DeviceLaunch(c.grid, c.block, packed, where=KERNEL, chosen=tuple(blocks))
        runs = LaunchRuns(device, MOST_EVENTS, machine_code=False)
        recorder = TraceRecorder()
        try:
            described = runs.described(self.function, launch)
            for batch in runs.run(self.function, launch, 0):
                recorder.add(batch, [described])
            warnings = [f"blocks {', '.join(map(str, blocks))} ran, and no others"]
            trace = finished(recorder, KERNEL, vars(c), [described], runs, [self.linked], warnings)
        finally:
            recorder.abandon()
        self._check(blocks, image, weights, output)
        return trace

    def _check(
        self, blocks: list[int], image: npt.NDArray[np.float32], weights: npt.NDArray[np.float32],
        output: npt.NDArray[np.float32],
    ) -> None:  # fmt: skip
        """Raise StudyError where an output of these blocks is not the sum that it should be."""
        c = self.configuration
        (wide, high), across = c.tile, c.grid[0]
        for number in blocks:
            x, y = number % across * wide, number // across * high
            got = output[y : y + high, x : x + wide]
            rows, columns = got.shape
            expected = np.zeros(got.shape)
            for place, weight in enumerate(weights.tolist()):
                i, j = divmod(place, c.filter)
                expected += weight * image[y + i : y + i + rows, x + j : x + j + columns]
            if not np.allclose(got, expected, rtol=TOLERANCE, atol=0):
                raise StudyError(f"{KERNEL} ({c}): block {number} stores other sums than it should")
