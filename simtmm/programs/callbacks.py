"""What the runtime library asks of Python: modules, launches, variables, times, and the end."""

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm import own_faults
from simtmm.cuda.device import DeviceLaunch
from simtmm.cuda.execution.layout import TEXTURE as TEXTURE_ROW
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.texture import ADDRESS_MODES, FILTER_MODES, SurfaceObject, TextureObject
from simtmm.device.host import IN, OUT, Move
from simtmm.errors import (
    DeadlockError,
    InternalError,
    KernelError,
    NoProgressError,
    RecordingError,
    SimtmmError,
    escaped,
    one_line,
)
from simtmm.programs.building.disassembled import reads_of_cycles
from simtmm.programs.kernels import DeviceOfProgram, Modules
from simtmm.programs.library import (
    ADVANCE,
    ALLOCATED,
    ATTRIBUTES,
    COPIED,
    DISASSEMBLED,
    ELAPSED,
    FETCHED,
    FILLED,
    FINISH,
    LAUNCH,
    LOAD,
    MARK,
    NOW,
    PARAMETERS,
    QUERY,
    TAKEN_BACK,
    VARIABLE,
    WAIT,
    WAIT_FOR_STREAM,
    Calls,
    Library,
    Texture,
)
from simtmm.programs.memory import bytes_at
from simtmm.programs.recording import ProgramRecording
from simtmm.recorder.direct.clock import Mark
from simtmm.recorder.direct.journal import Journal

# Numbers of CUDA's errors
INVALID_VALUE, INVALID_CONFIGURATION, INVALID_SYMBOL, INVALID_FUNCTION = 1, 9, 13, 98
INVALID_IMAGE, COMPILATION_FAILED, ILLEGAL_ADDRESS, TIMEOUT, ASSERT, MISALIGNED, LAUNCH_FAILURE, NOT_SUPPORTED = (
    200, 218, 700, 702, 710, 716, 719, 801,
)  # fmt: skip
UNKNOWN = -1  # how many places there are
NANO = 1e-9
_WAYS = (None, IN, OUT)  # of a copy: within the device, to it, from it
_FORMATS = {0: "i", 1: "u", 2: "f"}  # of cudaChannelFormatKind
_MODES = {number: name for name, number in ADDRESS_MODES.items()}
_FILTERS = {number: name for name, number in FILTER_MODES.items()}


def own_fault(error: BaseException) -> InternalError:
    """An exception that no program should cause, as one that says so."""
    return own_faults.with_report(own_faults.internal_error(error, "a call of the program was not answered"), {})


class Callbacks:
    """Answers the runtime library. No exception may cross it: what goes wrong becomes an error of CUDA's, and is
    printed.

    error: what went wrong first, in words. fault: of simtmm itself, after which there is no trace.
    """

    def __init__(
        self,
        library: Library,
        device: DeviceOfProgram,
        modules: Modules,
        recording: ProgramRecording,
        finish: Callable[[int], None],
        most_launches: int | None = None,
    ) -> None:
        """most_launches: after which the program is to end."""
        self._most_launches = most_launches
        self._library, self._device, self._modules, self._recording = library, device, modules, recording
        self._clock = recording.clock
        self._journal = recording.journal = Journal(recording.clock, lambda: library.place)
        self._finish = finish
        self._textures: dict[int, bytes] = {}
        self._marks: list[Mark] = []
        self.error = ""
        self.fault = ""

    def calls(self) -> Calls:
        """For the library."""
        return Calls(
            LOAD(self._load), PARAMETERS(self._parameters), ATTRIBUTES(self._attributes), LAUNCH(self._launch),
            VARIABLE(self._variable), MARK(self._mark), WAIT(self._wait),
            WAIT_FOR_STREAM(self._journal.synchronize_stream), QUERY(self._query), ELAPSED(self._elapsed),
            ADVANCE(self._advance), NOW(self._now), COPIED(self._copied), FILLED(self._journal.filled),
            FETCHED(self._fetched), TAKEN_BACK(self._journal.taken_back), ALLOCATED(self._journal.allocated),
            DISASSEMBLED(self._disassembled), FINISH(self._finish),
        )  # fmt: skip

    def _guarded(self, work: Callable[[], int], otherwise: int) -> int:
        try:
            return work()
        except InternalError as error:
            self.fault = str(error)
            self._tell(self.fault)
            return otherwise
        except SimtmmError as error:
            self._tell(str(error))
            return _code(error, otherwise)
        except MemoryError:
            self._tell("out of memory; try smaller sizes")
            return otherwise
        except BaseException as error:
            self.fault = str(own_fault(error))
            self._tell(self.fault)
            return otherwise

    def _tell(self, message: str) -> None:
        self.error = self.error or one_line(message)
        self._library.flush()
        print(f"simtmm: error: {escaped(one_line(message))}", file=sys.stderr, flush=True)

    def _load(self, number: int, image: int, size: int, is_apart: int) -> int:
        def work() -> int:
            self._modules.load(number, ctypes.string_at(image, size), bool(is_apart))
            return 0

        return self._guarded(work, INVALID_IMAGE)

    def _parameters(self, number: int, name: bytes, most: int, offsets: Any, sizes: Any) -> int:
        def work() -> int:
            parameters = self._modules.function(number, name.decode()).parameters
            end = 0
            for place, each in enumerate(parameters[:most]):
                offsets[place] = end = -(-end // each.align) * each.align
                sizes[place] = each.size
                end += each.size
            return len(parameters)

        count = self._guarded(work, INVALID_FUNCTION)
        return -INVALID_FUNCTION if self.error and count == INVALID_FUNCTION else count

    def _attributes(self, number: int, name: bytes, values: Any) -> int:
        def work() -> int:
            function = self._modules.function(number, name.decode())
            found = function.linked.resources_of(function.entry)
            variables = function.linked.module.variables.values()
            attributes = (
                found.registers if found else 32,
                found.shared_bytes if found else function.program.shared_bytes,
                sum(each.size for each in variables if each.space == "const"),
                found.local_bytes if found else 0,
                self._device.properties.most_threads(found.registers if found else 0, function.most_threads),
                function.linked.architecture,
                function.linked.architecture,
            )
            for place, value in enumerate(attributes):
                values[place] = value
            return 0

        return self._guarded(work, INVALID_FUNCTION)

    def _launch(
        self, number: int, name: bytes, sizes: Any, shared: int, parameters: int, count: int, stream: int, follows: int
    ) -> int:
        def work() -> int:
            if self._most_launches is not None and self._recording.launched >= self._most_launches:
                self._stop()
            function = self._modules.function(number, name.decode())
            self._device.memory.update()
            self._device.heap_limit = self._library.heap_limit
            packed = ctypes.string_at(parameters, count) if count else b""
            self._type(function, packed)
            x, y, z, *block = list(sizes[:9])
            cluster = (block[3], block[4], block[5]) if block[3] else None
            launch = DeviceLaunch(
                (x, y, z), (block[0], block[1], block[2]), packed, shared,
                f"{self._recording.name}: launch {self._recording.launched} of {_bare(function)}", self._rows(),
                concurrent=bool(stream) or self._modules.may_be_concurrent, cluster=cluster,
            )  # fmt: skip
            before = self._recording.recorded
            self._recording.launch(function, launch, stream, bool(follows))
            is_recorded = self._recording.recorded > before
            self._journal.launched(_bare(function), f"{launch.grid} {launch.block}", is_recorded, stream, bool(follows))
            return 0

        return self._guarded(work, LAUNCH_FAILURE)

    def _type(self, function: KernelFunction, packed: bytes) -> None:
        """Learn what lies in memory from the types of pointers to it."""
        declared = function.declared or ()
        end = 0
        for place, each in enumerate(function.parameters):
            end = -(-end // each.align) * each.align
            if each.size == 8 and place < len(declared) and declared[place].pointers == 1:
                dtype = declared[place].element
                if dtype is not None:
                    self._device.memory.type_at(int.from_bytes(packed[end : end + 8], "little"), dtype)
            end += each.size

    def _stop(self) -> None:
        """End the program as --stop-after says."""
        self._library.flush()
        print(f"simtmm: note: stopped after {self._most_launches:,} launches (--stop-after)", file=sys.stderr)
        self._library.stop(0)

    def _variable(self, number: int, name: bytes, address: Any, size: Any) -> int:
        def work() -> int:
            address[0], size[0] = self._modules.variable(number, name.decode())
            return 0

        return self._guarded(work, INVALID_SYMBOL)

    def make_texture(self, number: int, given: Any) -> int:
        """A texture or surface object."""

        def work() -> int:
            self._textures[number] = _row(given[0])
            return 0

        return self._guarded(work, NOT_SUPPORTED)

    def _rows(self) -> bytes:
        empty = bytes(TEXTURE_ROW.itemsize)
        most = max(self._textures, default=-1)
        return b"".join(self._textures.get(number, empty) for number in range(most + 1))

    def _mark(self, stream: int) -> int:
        self._marks.append(self._journal.mark(stream))
        return len(self._marks) - 1

    def _wait(self, mark: int, stream: int) -> None:
        found = self._marks[mark] if mark >= 0 else None
        if stream < 0:
            self._journal.synchronize(found)
        elif found is not None:
            self._journal.wait(found, stream)

    def _query(self, mark: int, stream: int) -> int:
        has_come = True

        def work() -> int:
            nonlocal has_come
            has_come = self._clock.has_come(self._marks[mark] if mark >= 0 else None, stream)
            if has_come:
                self._journal.learned()
            return 0

        self._guarded(work, INVALID_VALUE)
        return int(has_come)

    def _elapsed(self, begin: int, end: int, seconds: Any) -> int:
        def work() -> int:
            seconds[0] = self._clock.seconds(self._marks[begin], self._marks[end])
            return 0

        return self._guarded(work, INVALID_VALUE)

    def _advance(self, nanoseconds: int) -> None:
        self._clock.advance(nanoseconds * NANO)

    def _now(self, nanoseconds: Any) -> int:
        def work() -> int:
            nanoseconds[0] = round(self._clock.now() / NANO)
            return 0

        return self._guarded(work, INVALID_VALUE)

    def _copied(self, stream: int, way: int, size: int, is_pinned: int, is_awaited: int, *places: int) -> None:
        self._recording.copies.add(_WAYS[way], bool(is_pinned), size)
        self._journal.copied(stream, _WAYS[way], size, bool(is_pinned), bool(is_awaited), *places)

    def _fetched(self, stream: int, size: int, move: int) -> None:
        self._journal.fetched(stream, size, tuple(Move)[move])

    def _disassembled(self, path: bytes, begin: int, end: int, found: Any, most: int) -> int:
        def work() -> int:
            places = reads_of_cycles(os.fsdecode(path), begin, end)
            for number, place in enumerate((places or [])[:most]):
                found[number] = place
            return UNKNOWN if places is None or len(places) > most else len(places)

        return self._guarded(work, UNKNOWN)


def _bare(function: KernelFunction) -> str:
    from simtmm.cuda.compilers import bare_name

    return bare_name(function.entry)


def _code(error: SimtmmError, otherwise: int) -> int:
    """CUDA's number of what went wrong."""
    text = str(error)
    if isinstance(error, DeadlockError | NoProgressError):
        return TIMEOUT
    if isinstance(error, RecordingError):
        illegal = ((word, ILLEGAL_ADDRESS) for word in ("out of bounds", "it was freed", "constant", "null pointer"))
        for word, code in (("misaligned", MISALIGNED), ("assertion", ASSERT), *illegal):
            if word in text:
                return code
        return LAUNCH_FAILURE
    if isinstance(error, KernelError) and otherwise == LAUNCH_FAILURE:
        return INVALID_CONFIGURATION
    return COMPILATION_FAILED if otherwise == LAUNCH_FAILURE else otherwise


def _row(given: Texture) -> bytes:
    """A row of layout.TEXTURE. Raises KernelError for what is not supported."""
    if given.format not in _FORMATS or given.bits not in (8, 16, 32):
        raise KernelError(f"a texture of {given.bits} bits a channel, format {given.format}: is not supported")
    kind = np.dtype(f"{_FORMATS[given.format]}{given.bits // 8}")
    texel, layered = given.channels * kind.itemsize, bool(given.is_layered)
    pitch, height, depth = given.pitch or given.width * texel, max(1, given.height), max(1, given.depth)
    skipped = given.slice or height * pitch
    raw = bytes_at(given.host, (depth - 1) * skipped + (height - 1) * pitch + given.width * texel)
    shape, strides = (depth, height, given.width, given.channels), (skipped, pitch, texel, kind.itemsize)
    array = np.ndarray(shape, kind, raw, 0, strides)
    dimensions = 3 if given.depth and not layered else 2 if given.height else 1
    whole = array if given.depth else array[0]
    if dimensions == 1:
        whole = whole[..., 0, :, :]
    if given.is_surface:
        return SurfaceObject(whole, dimensions=dimensions, layered=layered).row(given.address)
    is_float = given.format == 2 or given.read_mode == 1
    texture = TextureObject(
        whole,
        address_mode=(_MODES[given.address_x], _MODES[given.address_y], _MODES[given.address_z]),
        filter_mode=_FILTERS[given.filter],
        read_mode="normalized_float" if given.read_mode == 1 and given.format != 2 else "element",
        normalized_coords=bool(given.normalized),
        border_color=list(given.border)[: given.channels] if is_float else None,
        dimensions=dimensions,
        layered=layered,
    )
    return texture.row(given.address)
