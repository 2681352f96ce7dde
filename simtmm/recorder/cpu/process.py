"""A kernel's instrumented C++ build in a process of its own: its requests, its replies, and how it ends.

A kernel may do anything: abort, exit, run past an array, spin for ever. At worst that ends its process, which a
watchdog ends too where it makes no progress for too long or takes too much memory. Arrays, events and the place where
the kernel is lie in memory shared with it (process_cpu.cuh has the other side), so its end can be reported with the
place.
"""

import contextlib
import ctypes
import errno
import mmap
import os
import select
import signal
import sys
import time
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from simtmm.children.start import NOTHING, Running, ended_within, started
from simtmm.errors import RecordingError, shown
from simtmm.files import KERNEL_MEMORY, KERNEL_TIMEOUT
from simtmm.recorder.arguments import Taken
from simtmm.recorder.cpu.messages import Command, Outcome, Seen
from simtmm.recorder.cpu.shared_file import SharedFile
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.trace.schema import EVENT, Events, Kind

BUSY_SECONDS = 5.0  # that a program just written may be open for writing elsewhere
_WRITING = (Kind.STORE, Kind.ATOMIC, Kind.SHARED_STORE, Kind.SHARED_ATOMIC)
LOOK_SECONDS = 0.1  # between two looks of the watchdog
TICK_SECONDS = 0.5  # of the process's own clock, by which it looks at threads that take long (watch_cpu.cuh)
PLACE_BYTES = 1 << 16  # of what the process says of its place; the ends of blocks stand behind
NO_SITE = 0xFFFF
UNABLE = 125  # the exit status where memory could not be shared


class EndedError(Exception):
    """The process has ended, or was ended. why: in words; block, thread, site: where it was, the site -1 if unknown."""

    def __init__(self, why: str, block: int, thread: int, site: int) -> None:
        super().__init__(why)
        self.why, self.block, self.thread, self.site = why, block, thread, site


class KernelProcess:
    """A build that runs, and waits for commands. A context manager, at whose end the process ends.

    signatures: by kernel function, of each argument: its kind (simtmm.recorder.arguments), its bytes, and whether it
    points to what the kernel can't change.
    """

    def __init__(
        self,
        program: Path,
        memory: GlobalMemory,
        most_blocks: int,
        most_events: int,
        timeout: float,
        most_memory: int,
        only_memory: bool = False,
    ) -> None:
        """Start the build. most_blocks, most_events: of a command. timeout: seconds that nothing may come of it.
        most_memory: bytes that it may take for itself. only_memory: whether its kernels see nothing but memory, so that
        one that comes back to the same state goes round for ever. Raises RecordingError.
        """
        self._timeout, self._most_memory = timeout, most_memory
        assert memory.file is not None
        with contextlib.ExitStack() as stack:
            self._events = [stack.enter_context(SharedFile(0)) for _ in range(2)]  # by turn
            place = stack.enter_context(SharedFile(PLACE_BYTES + 2 * 8 * most_blocks))
            self._place = place.mapped(place.size, writable=True)
            self._seen = Seen.from_buffer(self._place)
            self._most_blocks = most_blocks
            self._mapped: list[mmap.mmap | bytes] = [b"", b""]  # as much of them as was needed
            commands, self._commands = os.pipe()
            stack.callback(os.close, self._commands)
            self._replies, replies = os.pipe()
            stack.callback(os.close, self._replies)
            files = [commands, replies, place.number, memory.file.number, *(each.number for each in self._events)]
            ticks = max(1, round(1e6 * TICK_SECONDS))
            words = [os.getpid(), *files, memory.file.size, most_blocks, most_events, ticks, int(only_memory)]
            try:
                self._process = _started([str(program), *map(str, words)], files)
            except OSError as error:
                raise RecordingError(f"{program}: its build can't be run ({error.strerror})") from None
            finally:
                os.close(commands)
                os.close(replies)
            stack.callback(self._end)
            self._poll = select.poll()
            self._poll.register(self._replies, select.POLLIN)
            extents = np.array([[base, base + memory.arrays[name].nbytes] for name, base in memory.bases.items()])
            self._alive, self._last, self._turn, self._block = time.monotonic(), 0, 0, -1
            self._looks, self._looked = 0, self._alive  # as far as it has looked at its threads itself, and when
            self._still: float | None = None  # since when memory is as it is, where it was so for two looks
            self._tell(np.array([len(extents)], np.uint64).tobytes() + extents.astype(np.uint64).tobytes())
            self.signatures = self._hear_signatures()
            self._stack = stack.pop_all()

    def __enter__(self) -> "KernelProcess":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    @property
    def thrown(self) -> str:
        """What the exception that a kernel threw says of itself; empty if nothing."""
        return bytes(self._seen.what).split(b"\0")[0].decode("utf-8", "replace")

    @property
    def has_accessed(self) -> bool:
        """Whether the launch begun last has accessed memory so far, global or shared."""
        return bool(self._seen.shared) or any(bytes(self._seen.loaded)) or any(bytes(self._seen.stored))

    def has_stored(self, array: int) -> bool:
        """Whether the launch begun last has stored to or updated that array, by number."""
        return bool(self._seen.stored[array])

    def begin(self, command: Command) -> None:
        """Have blocks run, which goes on until `end`. Raises EndedError where the process has ended."""
        self._last, self._turn = 0, int(command.turn)
        if command.begins:
            self._alive, self._still = time.monotonic(), None
        self._tell(bytes(command))

    def end(self) -> Outcome:
        """What came of the command that was begun. Raises EndedError where the process ends over it."""
        outcome = Outcome.from_buffer_copy(self._hear(ctypes.sizeof(Outcome)))
        self._look_for_life(bool(outcome.count and (outcome.blocks or self._has_written(int(outcome.count)))))
        return outcome

    def events(self, turn: int, count: int) -> Events:
        """The events of the last command that had this turn, until the next one that has it begins."""
        size = EVENT.itemsize * count
        if size > len(self._mapped[turn]):
            self._mapped[turn] = self._events[turn].mapped(size)
        return np.frombuffer(self._mapped[turn], EVENT, count)

    def ends(self, turn: int, blocks: int) -> npt.NDArray[np.int64]:
        """Of each of its blocks: the events up to and with that one's."""
        begin = PLACE_BYTES + 8 * self._most_blocks * turn
        return np.frombuffer(self._place, np.uint64, blocks, begin).astype(np.int64)

    def _hear_signatures(self) -> dict[str, list[Taken]]:
        reply = b""
        while not reply.endswith(b"\n\n"):
            try:
                reply += self._hear(1) if reply.endswith(b"\n") else self._hear_some(1 << 12)
            except EndedError as ended:
                raise RecordingError(f"the build ended before any kernel ran: {ended.why}") from None
        kernels: dict[str, list[Taken]] = {}
        for line in reply.decode().splitlines()[:-1]:
            name, *arguments = line.split(" ")
            kernels[name] = []
            for word in arguments:
                own, _, pointee = word.partition("/")
                kernels[name].append(Taken(own[0], int(own[1:].rstrip("r")), own.endswith("r"), pointee))
        return kernels

    def _tell(self, message: bytes) -> None:
        try:
            while message:
                message = message[os.write(self._commands, message) :]
        except BrokenPipeError:
            raise self._ended() from None

    def _hear(self, size: int) -> bytes:
        reply = b""
        while len(reply) < size:
            reply += self._hear_some(size - len(reply))
        return reply

    def _hear_some(self, most: int) -> bytes:
        """Some of what the process says, as soon as it says something; the watchdog looks meanwhile."""
        while not self._poll.poll(1000 * LOOK_SECONDS):
            if self._process.poll() is not None and not self._poll.poll(0):
                raise self._ended()
            self._look()
        reply = os.read(self._replies, most)
        if not reply:
            raise self._ended()
        return reply

    def _look(self) -> None:
        """The watchdog: end the process where nothing has come of it for too long, or it takes too much memory."""
        recorded, block = self._seen.recorded, int(self._seen.block)
        goes_on = block != self._block or self._has_written(recorded)
        self._look_for_life(recorded != self._last and goes_on)
        self._last, self._block = recorded, block
        taken = _own_memory(self._process.pid)
        if taken > self._most_memory:
            self._end()
            raise self._place_of(
                f"used {taken:,} bytes of memory of its own and was stopped: use smaller parameters or raise the limit "
                f"of {self._most_memory:,} (--kernel-memory, {KERNEL_MEMORY})"
            )

    def _has_written(self, recorded: int) -> bool:
        """Whether a store or an atomic is among the events that were recorded since somebody looked."""
        if recorded <= self._last:
            return False
        kinds = self.events(self._turn, recorded)["kind"][self._last :]
        return bool(np.isin(kinds, _WRITING).any())

    def _look_for_life(self, has_recorded: bool) -> None:
        """End the process where nothing has come of it for too long: no block, and no change of what lies in memory.

        Who stores or updates may leave all as it was, which shows when the process itself looks the next time: then
        nothing has come of it since the time before.
        """
        now, looks = time.monotonic(), int(self._seen.looks)
        if has_recorded:
            self._alive = now
        if looks != self._looks:
            still_since = self._looked if self._still is None else self._still
            self._still = still_since if self._seen.is_still else None
            self._looks, self._looked = looks, now
            if self._still is not None:
                self._alive = min(self._alive, self._still)
        if now - self._alive > self._timeout:
            self._end()
            did = "recorded nothing but loads" if self._still is None else "changed nothing in memory"
            raise self._place_of(
                f"{did} for {self._timeout:g} s and was stopped: does it loop for ever? If not, use smaller "
                "parameters or "
                f"raise the limit (--kernel-timeout, {KERNEL_TIMEOUT})"
            )

    def _ended(self) -> EndedError:
        """How the process ended by itself."""
        status = ended_within(self._process, 5)
        if status is None:  # it has closed its end of the pipe, and goes on
            self._end()
            return self._place_of("closed the recorder's files")
        return self._place_of(_death(status))

    def _place_of(self, why: str) -> EndedError:
        site = self._seen.site
        return EndedError(why, self._seen.block, self._seen.thread, -1 if site == NO_SITE else site)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()


def _death(status: int) -> str:
    """What a process's exit status says of its end."""
    if status == UNABLE:
        return "could not share memory with the recorder, possibly out of memory"
    if status >= 0:
        return f"ended the process (exit status {status})"
    match -status:
        case signal.SIGSEGV | signal.SIGBUS:
            return "crashed: a pointer used without LD or ST, or a stack overflow"
        case signal.SIGFPE:
            return "crashed: a division by zero"
        case signal.SIGILL | signal.SIGTRAP:
            return "crashed: an illegal instruction, or undefined behaviour that its compiler saw"
        case signal.SIGABRT:
            return "aborted: by abort, an assertion, an uncaught exception or corrupted memory"
        case signal.SIGKILL:
            return "was killed from outside, possibly out of memory"
        case number:
            return f"was killed by signal {shown(signal.strsignal(number) or number)}"


def _started(command: list[str], files: list[int]) -> Running:
    """A build that runs with these files open. Raises OSError.

    Where another thread begins a process just while this program is written, that process has it open for writing
    until it becomes another program, and it can't be run meanwhile: "text file busy". So that is waited for.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            # What a kernel prints is no part of our output
            return started(command, files=files, stdin=NOTHING, stdout=_standard_error(), apart=True)
        except OSError as error:
            if error.errno != errno.ETXTBSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _standard_error() -> int:
    try:
        return os.fstat(2) and 2
    except OSError:
        return NOTHING


def _own_memory(process: int) -> int:
    """Bytes that a process has for itself; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass  # it has just ended
    return 0
