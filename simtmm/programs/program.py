"""A CUDA C++ program as a user has it: built, run and recorded."""

import contextlib
import importlib
import json
import logging
import signal
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from simtmm import own_faults
from simtmm.children.ending import Ended
from simtmm.children.start import LikeUs, ended_within, python_like_us
from simtmm.computer import limit_told
from simtmm.cuda.checks.active import active
from simtmm.cuda.checks.findings import Found
from simtmm.cuda.compilers import Architecture, architecture_of
from simtmm.cuda.disagreement.order_trial import OrderFound
from simtmm.device.own_clock import OwnClock
from simtmm.device.properties import WARP_SIZE
from simtmm.errors import KernelError
from simtmm.files import check_writable, is_file, why_no_file, written_whole
from simtmm.machine import Machine
from simtmm.machine.load import load_machine
from simtmm.programs.budget import MOST_EVENTS
from simtmm.programs.building.build import PLAIN, Built, build_program
from simtmm.programs.building.flags import WAVE, parse_flags
from simtmm.programs.building.runtime_library import runtime_library
from simtmm.programs.progress import Heard
from simtmm.provenance import command
from simtmm.recorder.again import in_other_orders, run_again, seconds_for
from simtmm.recorder.selection import Selection, StopAfter
from simtmm.temporary import own_prefix
from simtmm.trace.io import Trace, load_trace
from simtmm.watch import tell

logger = logging.getLogger("simtmm")

MACHINE = "h100-sxm"  # that programs see, and that events are timed on, where none is named
ADDRESSES = 3 * (1 << 38) + (1 << 30)  # bytes of them that the runtime reserves (runtime/memory.cpp), and its process
LOOK = 0.2  # seconds between two looks at how far a program is
AT_ONCE, GRACE, WRITING = 0.5, 5.0, 30.0  # seconds in which a program ends that a signal was sent to
BY_SIGNAL = 128  # and the signal's number: what shells have as the exit status


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    status: the program's exit status. launched, recorded: launches, and those in the trace. why_none: why there is no
    trace. not_run: launches that need not run, as they repeat one. is_idle: whether there is no trace because nothing
    was launched, and nothing went wrong. may_be_race: whether it failed by its own judgement. seconds: that it took.
    """

    status: int
    launched: int
    recorded: int
    trace: Trace | None
    why_none: str = ""
    is_idle: bool = False
    not_run: int = 0
    may_be_race: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class CudaProgram:
    """Files with a `main`, and how they are run.

    words: of its command line, behind its name. options: of nvcc. sample_blocks: of each launch; if left out, so many
    that the whole recording stays within bounds. most_events: more are an error, instead of sampling.
    clock: that it reads. stop: when it is ended.
    """

    paths: tuple[Path, ...]
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    sample_blocks: int | None = None
    most_events: int | None = None
    clock: OwnClock = field(default_factory=OwnClock)
    stop: StopAfter = field(default_factory=StopAfter)

    @property
    def name(self) -> str:
        """What traces and reports call it."""
        return self.paths[0].name

    def check(self) -> None:
        """Raise KernelError for a file that is not there."""
        for path in self.paths:
            if not is_file(path):
                raise KernelError(f"{path}: {why_no_file(path)}")

    def build(self, architecture: int) -> Built:
        """Compile and link it, or as it was before. Raises CompilerError."""
        self.check()
        return build_program(self.paths, architecture, self.options)

    def run(
        self, machine: Machine | None = None, output: Path | None = None, stdout: IO[Any] | int | None = None
    ) -> Outcome:
        """Run it on a machine; its input and output are this process's own.

        output: the trace's file (.parquet); a temporary one if left out. stdout: where it prints to instead.

        Raises CompilerError for what does not compile or link, OutputError, KernelError where a limit leaves too few
        addresses.
        """
        if short := limit_told(ADDRESSES):
            raise KernelError(f"{self.name}: {short}")
        on = machine or load_machine(MACHINE)
        self._check_waves(on)
        chosen = self._compiled_for(on)
        built = self.build(chosen.number)
        if output is not None:
            check_writable(output)
        headers = "" if built.headers == PLAIN else ", with simtmm_cuda.h for what CUDA 13's headers no longer have"
        logger.info("%s: compiled for sm_%d%s", self.name, chosen.number, headers)
        scratch = tempfile.TemporaryDirectory(prefix=own_prefix("program"))
        folder = Path(scratch.name)
        if output is None:
            is_bounded = self.most_events is None and self.sample_blocks is None
            path = folder / "trace.parquet"
            outcome = self._run(on, chosen.number, chosen.note, built, folder, path, stdout, is_bounded)
            if outcome.trace is None:
                scratch.cleanup()
            else:
                weakref.finalize(outcome.trace, scratch.cleanup)
            return outcome
        with scratch, written_whole(output) as part:
            outcome = self._run(on, chosen.number, chosen.note, built, folder, part, stdout)
            if outcome.trace is None:
                raise _NoTrace(outcome)
        return replace(outcome, trace=load_trace(output))

    def in_other_orders(self, machine: Machine | None, first: Outcome) -> OrderFound:
        """Run it again with its warps in other orders, where it failed by its own judgement. first: what came of it."""
        checker = active()
        if not first.may_be_race or (checker is not None and checker.checks.any):
            return OrderFound(())
        on = machine or load_machine(MACHINE)
        chosen = self._compiled_for(on)
        request = replace(self, sample_blocks=1)._request(on, chosen.number, None, self.build(chosen.number))

        def once(order: str) -> dict[str, Any] | None:
            return run_again("simtmm.programs.child", {**request, "order": order}, seconds_for(first.seconds))

        return in_other_orders(self.name, first.status, once)

    @property
    def _lanes(self) -> int:
        """Of a warp, as its code sees it."""
        return WAVE if parse_flags(self.options).has_waves else WARP_SIZE

    def _check_waves(self, machine: Machine) -> None:
        """Raise KernelError for waves of 64 lanes on a machine that has others."""
        if self._lanes == WAVE and machine.cores.warp_width != WAVE:
            raise KernelError(f"--warp {WAVE}: {machine.name} has warps of {machine.cores.warp_width} threads")

    def _compiled_for(self, machine: Machine) -> Architecture:
        """The architecture, with a note where that is not the machine's."""
        chosen = architecture_of(machine)
        named = parse_flags(self.options).number
        if named is not None and named != chosen.number:
            note = f"compiled for sm_{named}, as --build says, not for {machine.name}'s sm_{chosen.number}"
            return replace(chosen, number=named, note=note)
        return chosen

    def run_printing(self, machine: Machine | None, output: Path | None, to: Any = None) -> Outcome:
        """Likewise; what it prints goes where `print` goes here, or to a file, and no trace is no exception."""
        with _printed(to or sys.stdout) as stdout:
            try:
                return self.run(machine, output, stdout)
            except _NoTrace as none:
                return none.outcome

    def sources(self, trace: Trace) -> dict[str, tuple[str, ...]]:
        """The lines of its files by the names that a trace's places have, as far as they can be read."""
        found = {}
        for name in dict.fromkeys(site.file for site in trace.info.sites if site.file and site.file[0] != "<"):
            with contextlib.suppress(OSError):
                found[name] = tuple(Path(name).read_text(encoding="utf-8", errors="replace").splitlines())
        return found

    def _run(
        self, machine: Machine, architecture: int, note: str | None, built: Built, folder: Path, output: Path,
        stdout: IO[Any] | int | None, is_bounded: bool = False,
    ) -> Outcome:  # fmt: skip
        checker = active()
        request = {
            **self._request(machine, architecture, note, built), "output": str(output),
            "outcome": str(folder / "outcome.json"), "progress": str(folder / "progress"),
            "checks": list(checker.checks.names) if checker else [], "is_bounded": is_bounded,
        }  # fmt: skip
        began = time.monotonic()
        (folder / "request.json").write_text(json.dumps(request))
        sys.stdout.flush()
        heard = Heard(folder / "progress", MOST_EVENTS if is_bounded else None)
        tell("running the program", 0)
        importlib.import_module("simtmm.trace.runs.file")  # once, before the fork: both read or write traces with it
        child = python_like_us("simtmm.programs.child", [str(folder / "request.json")], stdout)
        try:
            while (status := ended_within(child.process, LOOK)) is None:
                heard.tell()
        except KeyboardInterrupt as interrupt:
            number = interrupt.number if isinstance(interrupt, Ended) else signal.SIGINT
            status = _leave(child, number)
            if number != signal.SIGINT or not (folder / "outcome.json").is_file():
                raise
        finally:
            child.end()
        path = folder / "outcome.json"
        reply: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
        if reply.get("fault"):
            own_faults.note(str(reply["fault"]))
        if checker is not None and "checks" in reply:
            checker.add(Found.from_dict(reply["checks"]))
        return replace(self._outcome(status, reply, output), seconds=time.monotonic() - began)

    def _request(self, machine: Machine, architecture: int, note: str | None, built: Built) -> dict[str, Any]:
        """The request to the process that it runs in, without files and checks."""
        return {
            "machine": machine.to_dict(), "architecture": architecture, "runtime": str(runtime_library()),
            "program": str(built.library), "relocatable": parse_flags(self.options).relocatable, "name": self.name,
            "words": [f"./{self.paths[0].stem}", *self.words], "selection": asdict(self.selection),
            "sample_blocks": self.sample_blocks, "most_events": self.most_events, "warnings": [note] if note else [],
            "checks": [], "order": "", "command": command(), "clock": self.clock.kind,
            "host_time": self.clock.has_host_time, "stop_launches": self.stop.launches,
            "stop_seconds": self.stop.seconds, "is_bounded": False, "lanes": self._lanes,
        }  # fmt: skip

    def _outcome(self, status: int, reply: dict[str, Any], output: Path) -> Outcome:
        launched, recorded = reply.get("launched", 0), reply.get("recorded", 0)
        if status < 0:
            name = signal.Signals(-status).name
            return Outcome(BY_SIGNAL - status, launched, recorded, None, f"{self.name}: was killed by {name}: no trace")
        may_be_race = 0 < status < BY_SIGNAL and launched > 0 and not reply.get("told_error", True)
        if "error" in reply or not reply:
            why = reply.get("error") or f"{self.name}: ended with exit status {status} before a launch was recorded"
            return Outcome(status, launched, recorded, None, str(why), bool(reply.get("no_launch")), 0, may_be_race)
        trace = load_trace(output)
        for fault in trace.info.faults:
            own_faults.note(fault)
        return Outcome(status, launched, recorded, trace, "", False, reply.get("not_run", 0), may_be_race)


def _leave(child: LikeUs, number: int) -> int:
    """Have a program end as we do: by the signal that we got, if a terminal has not sent it to both; gives its status.

    What it does at its end, it has some seconds for; an interrupted one writes down what there is.
    """
    status = ended_within(child.process, AT_ONCE)
    if status is None:
        child.process.send_signal(number)
        status = ended_within(child.process, WRITING if number == signal.SIGINT else GRACE)
    return BY_SIGNAL + number if status is None else status


@contextlib.contextmanager
def _printed(to: Any) -> Iterator[IO[Any]]:
    """A file of the system's that what is written to goes where a file of Python's goes."""
    try:
        to.fileno()
    except (OSError, ValueError, AttributeError):  # a text in memory, say
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
            try:
                yield file
            finally:
                file.seek(0)
                to.write(file.read())
    else:
        yield to


class _NoTrace(Exception):  # noqa: N818 - no error: tells a file under way that it won't be finished
    """A program left no trace."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.why_none)
        self.outcome = outcome


def cuda_program(
    paths: Sequence[str | Path],
    words: Sequence[str] = (),
    options: Sequence[str] = (),
    selection: Selection | None = None,
    sample_blocks: int | None = None,
    most_events: int | None = None,
    clock: OwnClock | None = None,
    stop: StopAfter | None = None,
) -> CudaProgram:
    """A program from what a user names.

    words: of the program's command line.
    options: of the compiler.
    sample_blocks: blocks of each launch at most.
    most_events: of the recording.
    stop: when the program is ended before its end.

    Raises KernelError for a file that is not there.
    """
    program = CudaProgram(
        tuple(map(Path, paths)), tuple(words), tuple(options), selection or Selection(), sample_blocks, most_events,
        clock or OwnClock(), stop or StopAfter(),
    )  # fmt: skip
    program.check()
    return program
