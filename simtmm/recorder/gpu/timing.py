"""Time a kernel's plain build on a GPU, as written or as compiled, by the device's own events.

A first run goes as a recording does: each launch has run when the host program goes on. It says which launches there
are, and whether the answer is right. The runs that are timed repeat those launches without the host in between. That
the host is slower than a device with little to do must not show: a kernel holds the device until all work is queued.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError, RecordingError
from simtmm.kernel import Kernel, Launch
from simtmm.recorder.gpu.compiled_build import CompiledBuild, CompiledFunction
from simtmm.recorder.gpu.device import Build, Device, DeviceMemory, Function, launch_words
from simtmm.recorder.gpu.ptx_module import STATIC_ROOM
from simtmm.recorder.gpu.record import load_cupy
from simtmm.recorder.limits import MOST_LAUNCHES

FLUSH = 4  # times the L2 cache, written before each cold run
CLOCK_TICKS = 20_000_000  # that the clock is watched for: about 10 ms
HELD = 1.5  # times what the host took to tell the device all
MOST_HELD = 0.05  # seconds; the device's queue is full before
HIGHEST_CLOCK = 3e9  # Hz: at a lower one the device is held the longer
CLOCK_SOURCE = """
extern "C" __global__ void simtmm_clock(long long* ticks, long long least)
{
    long long begin = clock64(), now = begin;
    while (now - begin < least) now = clock64();
    ticks[0] = now - begin;
}

extern "C" __global__ void simtmm_hold(long long least)
{
    long long begin = clock64();
    while (clock64() - begin < least) {}
}
"""


@dataclass(frozen=True)
class TimedLaunch:
    """A launch and how it was built. seconds: of each run. blocks_per_core_group: that fit one at once.

    registers_per_thread, spilled_bytes (of a thread): the compiler's.
    """

    launch: Launch
    registers_per_thread: int
    spilled_bytes: int
    blocks_per_core_group: int
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class TimedProgram:
    """launches: in order. total: each run's sum over its launches, in seconds. elapsed: seconds from the first
    launch's start to the last one's end, of as many runs more, in which nothing is timed in between. device: what it
    is, and `clock_hz`, the core clock as counted on it right after. source: a hash of what was compiled.
    """

    launches: tuple[TimedLaunch, ...]
    total: tuple[float, ...]
    elapsed: tuple[float, ...]
    device: dict[str, Any]
    source: str


@dataclass
class _Step:
    """A launch as it is repeated: `changed` are the arrays, where the host program wrote to them before it."""

    launch: Launch
    function: Function | CompiledFunction
    arguments: tuple[np.generic, ...] | bytes
    dynamic: int
    changed: npt.NDArray[np.uint8] | None


def time_program(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    repeat: int,
    warm_up: int,
    cold: bool,
    compiled: bool = False,
) -> TimedProgram:
    """Run the program 3 + warm_up + 2 * repeat times and time the latter.

    cold: the caches hold nothing of the program's when a run begins, as in a simulation; else what the run before and
    the copying of the inputs left there. compiled: the kernel is what simtmm's compiler makes of its file, as PTX; else
    what CuPy makes of its source.
    parameters: all of the kernel, by name.
    repeat: how often it is timed.
    warm_up: how often it is run before.

    Raises KernelError, CompilerError, and RecordingError for a wrong answer, or where there is no GPU.
    """
    device = Device(load_cupy())
    where = f"kernel {kernel.name}"
    with device.told(where):
        build = (
            CompiledBuild(device, kernel, parameters)
            if compiled
            else Build(device, kernel, kernel.defines(parameters), recording=False)
        )
        bench = _Bench(device, kernel, parameters, build, cold)
        bench.plan()
        for timed in (True, False):
            bench.rehearse(timed)
        for _ in range(warm_up):
            bench.run(timed=False)
        singly = [bench.run(timed=True) for _ in range(repeat)]
        elapsed = [bench.run(timed=False)[0] for _ in range(repeat)]
        bench.check()
        launches = tuple(
            bench.timed(step, seconds) for step, seconds in zip(bench.steps, zip(*singly, strict=True), strict=True)
        )
        clock = clock_hz(device)
    facts = {**device.versions(), "clock_hz": clock, **device.facts()}
    return TimedProgram(launches, tuple(map(sum, singly)), tuple(elapsed), facts, bench.build.digest)


class _Bench:
    """A program on the device, to be run again and again."""

    def __init__(
        self,
        device: Device,
        kernel: Kernel,
        parameters: dict[str, int | float | str],
        build: Build | CompiledBuild,
        cold: bool,
    ) -> None:
        self.device, self.kernel, self.parameters, self.build = device, kernel, parameters, build
        self.memory = DeviceMemory(device, kernel.inputs(parameters))
        self.steps: list[_Step] = []
        self._hold = _own_kernel(device, "simtmm_hold")
        self._telling = {True: 0.0, False: 0.0}  # seconds to hold the device: where each launch is timed, and else
        self._claimed: dict[str, int] = {}  # dynamic shared memory by function, the most of its launches
        self._before = {name: array.copy() for name, array in self.memory.host.arrays.items()}
        self._inputs = self.memory.host.whole.copy()
        self._pristine: Any = None
        if device.free_bytes() > 2 * len(self._inputs):
            self._pristine = device.put(self._inputs)
        self._scratch = device.empty(max(1, FLUSH * device.attributes.get("L2CacheSize", 1 << 26))) if cold else None

    def plan(self) -> None:
        """Run the program as its host program says, step by step, and keep the steps. Checks the answer."""
        memory = self.memory
        memory.upload()
        left = self._inputs.copy()  # what is on the device
        for number, launch in enumerate(self.kernel.launches(self.parameters, memory.host.arrays)):
            where = launch_words(self.kernel, launch, number)
            if number == MOST_LAUNCHES:
                raise RecordingError(f"{where}: this is the most that can be timed; does host.py launch for ever?")
            changed = None if np.array_equal(left, memory.host.whole) else memory.host.whole.copy()
            self.device.check_shape(launch.grid, launch.threads_per_block, where)  # type: ignore[arg-type]
            function = self.build.function(launch, where)
            step = _Step(
                launch,
                function,
                function.arguments(launch, memory, where),
                self._dynamic(function, launch, where),
                changed,
            )
            with self.device.told(where):
                self._bring(step)
                self._launch(step)
                self.device.wait()
            memory.download()
            left[:] = memory.host.whole
            self.steps.append(step)
        self._complain()

    def _dynamic(self, function: Function | CompiledFunction, launch: Launch, where: str) -> int:
        """Shared memory that the launch is given in addition to what the kernel declares."""
        static = int(function.raw.shared_size_bytes)
        most = self.device.attributes.get("MaxSharedMemoryPerBlockOptin", STATIC_ROOM)
        dynamic = self.build.dynamic_bytes(static, launch)
        if max(launch.shared_memory_bytes, static + dynamic) > most:
            raise KernelError(
                f"{where}: shared_memory_bytes = {launch.shared_memory_bytes}: {self.device.name} gives a block {most}"
            )
        claimed = self._claimed[launch.kernel] = max(dynamic, self._claimed.get(launch.kernel, 0))
        if static + claimed > STATIC_ROOM:
            function.raw.max_dynamic_shared_size_bytes = claimed
        return dynamic

    def _bring(self, step: _Step) -> None:
        if step.changed is not None:
            self.memory.buffer.set(step.changed)

    def _launch(self, step: _Step) -> None:
        step.function.raw(step.launch.grid, step.launch.block, step.arguments, shared_mem=step.dynamic)

    def rehearse(self, timed: bool) -> None:
        """Find how long the host takes to tell the device a run."""
        self._prepare()
        begun = time.perf_counter()
        self._tell(timed)
        self._telling[timed] = min(MOST_HELD, HELD * (time.perf_counter() - begun))
        self.device.wait()

    def run(self, timed: bool) -> list[float]:
        """Run all steps on the inputs; give each one's seconds, or those of them all together."""
        self._prepare()
        self._hold((1,), (1,), (np.int64(HIGHEST_CLOCK * self._telling[timed]),))
        events = self._tell(timed)
        self.device.wait()
        return [float(self.device.cupy.cuda.get_elapsed_time(*pair)) * 1e-3 for pair in events]

    def _prepare(self) -> None:
        """The arrays as they were at first, the caches without them, the device idle."""
        cupy = self.device.cupy
        if self._pristine is not None:
            cupy.copyto(self.memory.buffer, self._pristine)
        else:
            self.memory.buffer.set(self._inputs)
        if self._scratch is not None:
            self._scratch.fill(0)
        self.build.restore()
        self.device.wait()

    def _tell(self, timed: bool) -> list[tuple[Any, Any]]:
        """Tell the device all steps, with events around each of them, or around all."""
        event = self.device.cupy.cuda.Event
        events = [(event(), event()) for _ in range(len(self.steps) if timed else 1)]
        if not timed:
            events[0][0].record()
        for number, step in enumerate(self.steps):
            self._bring(step)
            if timed:
                events[number][0].record()
            self._launch(step)
            if timed:
                events[number][1].record()
        if not timed:
            events[0][1].record()
        return events

    def check(self) -> None:
        """Whether the last run's answer is right, too."""
        self.memory.download()
        self._complain()

    def _complain(self) -> None:
        wrong = self.kernel.check(self.parameters, self._before, self.memory.host.arrays)
        if wrong:
            raise RecordingError(f"kernel {self.kernel.name}: wrong answer: {wrong}")

    def timed(self, step: _Step, seconds: tuple[float, ...]) -> TimedLaunch:
        """The record of a step and the times that it took [s]."""
        raw = step.function.raw
        resident = self.device.cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            raw.kernel.ptr, step.launch.threads_per_block, step.dynamic
        )
        return TimedLaunch(
            self.build.described(step.launch), int(raw.num_regs), int(raw.local_size_bytes), int(resident), seconds
        )


def clock_hz(device: Device) -> float:
    """The core clock as it is now: ticks that a kernel of one thread counts, over the time that it takes."""
    cupy = device.cupy
    function = _own_kernel(device, "simtmm_clock")
    ticks = device.put(np.zeros(1, np.int64))
    for _ in range(2):  # the first one loads the module
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        function((1,), (1,), (np.uint64(ticks.data.ptr), np.int64(CLOCK_TICKS)))
        stop.record()
        device.wait()
    return float(ticks.get()[0]) / (1e-3 * float(cupy.cuda.get_elapsed_time(start, stop)))


def _own_kernel(device: Device, name: str) -> Any:
    names = ["simtmm_clock", "simtmm_hold"]
    return device.cupy.RawModule(code=CLOCK_SOURCE, options=("-std=c++17",), name_expressions=names).get_function(name)
