"""A kernel of which the blocks that a sample needs are run and recorded, and no others.

That is right where blocks don't depend on one another, nor on what earlier launches wrote: where no data decides where
a block goes that any launch of the program writes (simtmm/cuda/ptx/flow/dependence.py), and the host does not look at
it between launches either.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simtmm.computer import NO_LIMIT
from simtmm.cuda.compilers import architecture_of_today
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.ptx.flow.dependence import Dependence, Pointers, dependence
from simtmm.errors import CompilerError, KernelError, PtxError
from simtmm.kernel import Array, Kernel, Launch
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.compiler import build
from simtmm.recorder.cpu.launches import CpuLaunches, Room
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.recorder.launches import trace_launch
from simtmm.recorder.limits import MOST_LAUNCHES, most_bytes
from simtmm.sampling.sample import Integers
from simtmm.sampling.sources import DependsError
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import Batch, TraceLaunch
from simtmm.watch import foresee_events, tell

NOT_CHECKED = "only blocks of the sample ran, so the answer was not checked"


class KernelSource:
    """A kernel with its parameters, whose blocks are recorded on demand."""

    is_whole = False

    def __init__(
        self, kernel: Kernel, parameters: Mapping[str, object], form: str, architecture: int | None = None
    ) -> None:
        """form: how it is recorded. architecture: what it is compiled for, where it is as compiled.

        kernel: what is recorded.
        parameters: values of some of its parameters, as texts or numbers.

        Raises DependsError where that would not be right, and the errors of kernels and compilers.
        """
        self._kernel, self._form = kernel, form
        self._parameters = kernel.resolve(parameters)
        self.name, self.parameters = kernel.name, dict(self._parameters)
        self.notes: tuple[str, ...] = (NOT_CHECKED,)
        self._kept: CompiledLaunches | None = None
        self._memory: GlobalMemory | None = None
        self._functions: dict[str, KernelFunction] = {}
        inputs = kernel.inputs(self._parameters)
        self._launches = list(_launches(kernel, self._parameters, inputs))
        try:
            self._linked = module_of(kernel, self._parameters, architecture or architecture_of_today())
            self._check(inputs)
        except (CompilerError, PtxError) as error:
            raise DependsError(
                f"its PTX, which would show whether they are independent, is unavailable: {error}"
            ) from None
        self._inputs = inputs
        self.launches: tuple[TraceLaunch, ...] = tuple(self._described(inputs))
        given = [(launch.arguments, launch.shared_memory_bytes) for launch in self._launches]
        self.same: tuple[object, ...] = tuple(
            (described, repr(own)) for described, own in zip(self.launches, given, strict=True)
        )

    def _execution(self, arrays: Mapping[str, Array]) -> CompiledLaunches:
        whole = {name: np.array(array, array.dtype.newbyteorder("="), order="C") for name, array in arrays.items()}
        return CompiledLaunches(
            self._linked, whole, NO_LIMIT, f"kernel {self.name}", self._form != "ptx", functions=self._functions
        )

    def _without_data(self, arrays: Mapping[str, Array]) -> CompiledLaunches:
        """The launches on arrays of no length: for what their data do not decide."""
        return self._execution({name: array[:0] for name, array in arrays.items()})

    def _described(self, arrays: Mapping[str, Array]) -> Iterator[TraceLaunch]:
        if self._form == "written":
            yield from map(trace_launch, self._launches)
            return
        yield from map(self._without_data(arrays).described, self._launches)

    def _check(self, arrays: Mapping[str, Array]) -> None:
        """Raise DependsError where blocks depend on one another, or on what launches write."""
        where = f"kernel {self.name}"
        execution = CompiledLaunches(self._linked, dict(arrays), NO_LIMIT, where, functions=self._functions)
        found: dict[str, Dependence] = {}
        decides: dict[int | None, str] = {}
        writes: dict[int | None, str] = {}
        for launch in self._launches:
            function = execution.function(launch.kernel)
            known = found.get(function.entry)
            if known is None:
                if function.program.communicates:
                    raise DependsError(f"threads of {launch.kernel or function.entry} may wait for other blocks")
                known = dependence(self._linked.module, function.entry, comparisons=self._form == "written")
                found[function.entry] = known
            if known.unknown:
                raise DependsError(known.unknown)
            packed = execution.parameters(launch, f"kernel {self.name}")
            places = _Places(execution, function, packed)
            for pointers in known.decides:
                decides |= dict.fromkeys(places.of(pointers), launch.kernel)
            for pointers in known.writes:
                writes |= dict.fromkeys(places.of(pointers), launch.kernel)
        if not decides:
            return
        if None in decides or None in writes:
            which = "decides the path of a block" if None in decides else "is written"
            raise DependsError(f"the location of some data that {which} is unknown")
        lie = [execution.device.memory.find(base) for base in decides if base is not None]
        names = dict.fromkeys(each.name for each in lie if each)
        if names:
            self.notes += (f"{', '.join(names)} decides what blocks do: the sample may miss rare kinds of blocks",)
        both = [base for base in decides if base in writes]
        if both:
            assert both[0] is not None
            lies = execution.device.memory.find(both[0])
            raise DependsError(f"{lies.name if lies else 'data'} decides the path of blocks, and launches write it")

    def trace_of(self, chosen: Mapping[int, Integers]) -> Trace:
        """Run these blocks, and record what they do.

        chosen: by the number of a launch int64[blocks], numbers of its blocks.
        """
        if self._form == "written":
            return self._as_written(chosen)
        return self._as_compiled(chosen)

    def _as_compiled(self, chosen: Mapping[int, Integers]) -> Trace:
        execution = self._kept = self._kept or self._execution(self._inputs)
        with _recorder() as recorder:
            for number, blocks in sorted(chosen.items()):
                whole = len(blocks) == self.launches[number].blocks
                for batch in execution.run(self._launches[number], number, () if whole else blocks.tolist()):
                    self._take(recorder, batch, chosen)
            execution.runs.compares = False  # its first blocks do what they did
            return finished(
                recorder, self.name, self.parameters, self.launches, execution.runs, [self._linked],
                execution.warnings,
            )  # fmt: skip

    def _as_written(self, chosen: Mapping[int, Integers]) -> Trace:
        program = build(self._kernel, self._kernel.defines(self._parameters), False)
        # What blocks wrote before stays: no block's way depends on it.
        memory = self._memory = self._memory or GlobalMemory(self._inputs, shared=True)
        room = Room(NO_LIMIT, in_memory=False)
        with _recorder() as recorder, CpuLaunches(self._kernel, program, memory, room, straight=True) as execution:
            for number, blocks in sorted(chosen.items()):
                for first, last in _ranges(blocks):
                    for batch in execution.run_blocks(self._launches[number], number, first, last):
                        self._take(recorder, batch, chosen)
            return recorder.finish(
                self.name, self.parameters, list(self.launches), memory.table(), execution.sites, {"recorder": "cpu"}
            )

    def _take(self, recorder: TraceRecorder, batch: Batch, chosen: Mapping[int, Integers]) -> None:
        recorder.add(batch, self.launches)
        launch, last = int(batch.launch.max(initial=0)), int(batch.block.max(initial=-1))
        blocks = sum(len(each) for each in chosen.values())
        before = sum(len(each) for number, each in chosen.items() if number < launch)
        ended = before + int(np.searchsorted(chosen[launch], last, side="right"))
        tell("recording a sample", ended, blocks)
        if ended:
            foresee_events(recorder.events * blocks / ended)


@contextlib.contextmanager
def _recorder() -> Iterator[TraceRecorder]:
    recorder = TraceRecorder(None, most_bytes())
    try:
        yield recorder
    finally:
        recorder.abandon()


def _ranges(blocks: Integers) -> Iterator[tuple[int, int]]:
    """Blocks that follow one another: the first, and the one behind the last."""
    for part in np.split(blocks, np.flatnonzero(np.diff(blocks) != 1) + 1):
        if len(part):
            yield int(part[0]), int(part[-1]) + 1


class _Untouched(Mapping[str, Any]):
    """Arrays that a host may name, and must not look at between launches."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> Any:
        return _Shape(name, self._arrays[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


class _Shape:
    """What of an array no launch changes."""

    def __init__(self, name: str, array: Array) -> None:
        self._name = name
        self.shape, self.size, self.dtype, self.ndim, self.nbytes = (
            array.shape, array.size, array.dtype, array.ndim, array.nbytes,
        )  # fmt: skip

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getattr__(self, attribute: str) -> Any:
        raise _LookedError(self._name)

    def _look(self, *others: object) -> Any:
        raise _LookedError(self._name)

    __getitem__ = __setitem__ = __iter__ = __bool__ = __int__ = __float__ = __index__ = __contains__ = _look
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _look
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __array__ = _look
    __hash__ = None  # type: ignore[assignment]


class _LookedError(BaseException):
    """The host looks at an array; no Exception, so that it catches none."""


def _launches(kernel: Kernel, parameters: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[Launch]:
    try:
        for number, launch in enumerate(kernel.launches(parameters, _Untouched(arrays))):
            if number == MOST_LAUNCHES:
                raise DependsError("it has more launches than a trace can have")
            yield launch
    except KernelError as error:
        if isinstance(error.__cause__, _LookedError):
            raise DependsError(f"its host code reads {error.__cause__} between launches") from None
        raise


class _Places:
    """Where the pointers of a launch lead."""

    def __init__(self, execution: CompiledLaunches, function: KernelFunction, packed: bytes) -> None:
        self._memory = execution.device.memory
        self._symbols = execution.device.symbols(execution.linked)
        self._words: dict[str, Sequence[int]] = {}
        at = 0
        for parameter in function.parameters:
            at += -at % parameter.align
            own = packed[at : at + parameter.size]
            self._words[parameter.name] = [
                int.from_bytes(own[word : word + 8], "little") for word in range(0, len(own) - 7, 8)
            ]
            at += parameter.size

    def of(self, pointers: Pointers) -> list[int | None]:
        """The allocations that one of these may lead to, by where they begin; None where none of them does."""
        found: list[int | None] = []
        for name in pointers:
            addresses = [self._symbols[name]] if name in self._symbols else self._words.get(name, ())
            lies = [self._memory.find(address) for address in addresses]
            found += [each.base for each in lies if each is not None]
        return found or [None]
