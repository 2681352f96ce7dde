"""What one page asks, and what it is answered: parts of a picture, the first of them soon.

A page sends a number and a state; what it gets back carries that number. A newer question ends the older one's work
wherever it is, and nothing is sent of a question that is no longer the newest: a picture is never stale. A question
that can't be answered gets one line that says why, and the next is answered as if nothing had been.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from simtmm.errors import SimtmmError, shown_error
from simtmm.explorer.controls import described
from simtmm.explorer.curve import curves
from simtmm.explorer.programs import Kept, Programs
from simtmm.explorer.saved import saved
from simtmm.explorer.simulation import Ready, Superseded, estimated_cycles, prepare, run, sample
from simtmm.explorer.state import Configuration, State
from simtmm.explorer.views import views
from simtmm.parameter import Parameter
from simtmm.watch import Watch, telling, watched
from simtmm.workload import Workload

Send = Callable[[dict[str, Any]], None]

SHAPE = ("threads", "blocks", "side", "shared_memory")  # parameters that are the launch's shape
SAYS_EVERY = 0.2  # seconds between words of progress
MOST_PICTURES = 6

logger = logging.getLogger("simtmm")


class Session:
    """One page. Its work is done in a thread of its own, so that a page that computes holds up no other.

    programs: what may be named. send: takes a part of an answer, from that thread. program, machine: where a state
    names none.
    """

    def __init__(self, programs: Programs, send: Send, program: str, machine: str) -> None:
        self._programs, self._send = programs, send
        self._defaults = program, machine
        self._pictures = Kept(MOST_PICTURES)
        self._wake = threading.Condition()
        self._newest: tuple[int, str] | None = None
        self._number = 0
        self._is_open = True
        self._thread = threading.Thread(target=self._serve, name="simtmm explore", daemon=True)
        self._thread.start()

    def ask(self, number: int, state: str) -> None:
        """Ask for the picture of a state. number: larger than that of the question before."""
        with self._wake:
            self._newest = number, state
            self._number = number
            self._wake.notify()

    def close(self) -> None:
        """End what is being computed."""
        with self._wake:
            self._is_open = False
            self._number = -1
            self._wake.notify()

    def join(self, seconds: float | None = None) -> None:
        """Wait until a closed session has ended."""
        self._thread.join(seconds)

    def _serve(self) -> None:
        while True:
            with self._wake:
                while self._newest is None and self._is_open:
                    self._wake.wait()
                if not self._is_open:
                    return
                assert self._newest is not None
                number, text = self._newest
                self._newest = None
            try:
                self._answer(number, text)
            except Superseded:
                continue
            except (SimtmmError, OSError) as error:
                self._part(number, "error", {"words": shown_error(error)})
            except Exception as error:  # a mistake of ours ends no page
                logger.exception("explore: %s", text)
                self._part(number, "error", {"words": f"a mistake in simtmm: {type(error).__name__}: {error}"})

    def _part(self, number: int, part: str, content: Mapping[str, Any]) -> None:
        """Send a part of an answer, if it is still wanted."""
        if number == self._number:
            self._send({"number": number, "part": part, **content})

    def _watch(self, number: int) -> Watch:
        """Ends the work of a question that is no longer the newest, and says what takes long."""
        last = time.monotonic()

        def watch(stage: str, done: int, total: int | None = None) -> None:
            nonlocal last
            if number != self._number:
                raise Superseded
            if time.monotonic() - last > SAYS_EVERY:
                last = time.monotonic()
                self._part(number, "progress", {"stage": stage, "done": done, "total": total})

        return watch

    def _answer(self, number: int, text: str) -> None:
        began = time.perf_counter()
        watch = self._watch(number)
        state = State.of(text, *self._defaults)
        self._part(number, "form", self._form(state.first))
        ready = self._picture(number, "a", state.first, watch)
        if state.other is not None:
            self._picture(number, "b", state.other, watch)
        self._part(number, "done", {"milliseconds": 1000 * (time.perf_counter() - began)})
        for curve in curves(self._programs, ready, state.drag, watch):
            self._part(number, "curve", {"curve": curve.to_dict()})
        self._part(number, "saved", saved(self._programs, state))

    def _picture(self, number: int, side: str, configuration: Configuration, watch: Watch) -> Ready:
        """Send what is drawn of a configuration: at once if it is cached, as a sample first if it takes long."""
        ready = prepare(self._programs, configuration, watch)

        def make() -> dict[str, Any]:
            if ready.is_long:
                assert isinstance(ready.prepared.workload, Workload)
                some = sample(ready.prepared.workload, ready.machine)
                with watched(watch):
                    cycles = estimated_cycles(ready.machine, some, telling("a sample"))
                self._part(number, "sample", {"side": side, "cycles": cycles, "of": some.part})
            return views(ready, run(ready, watch))

        self._part(number, "run", {"side": side, "run": self._pictures.get(configuration.key, make)})
        return ready

    def _form(self, configuration: Configuration) -> dict[str, Any]:
        """What can be moved: the machine's controls and the kernel's parameters, with where they stand."""
        machine = self._programs.machine(configuration.machine)
        parameters = self._programs.parameters(configuration.program)
        return {
            "program": configuration.program,
            "machine": configuration.machine,
            "title": machine.name,
            "controls": described(machine),
            "parameters": [_parameter(name, each) for name, each in parameters.items()],
        }


def _parameter(name: str, parameter: Parameter) -> dict[str, Any]:
    return {
        "name": f"p.{name}",
        "label": name,
        "help": parameter.help,
        "own": parameter.default,
        "kind": type(parameter.default).__name__,
        "low": parameter.minimum,
        "high": parameter.maximum,
        "choices": list(parameter.choices or ()),
        "isShape": name in SHAPE,
    }
