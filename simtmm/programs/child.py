"""The process that a program runs in: `simtmm.programs.child FILE`, with the request in the file."""

import contextlib
import json
import logging
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.cuda.checks.active import checking
from simtmm.cuda.checks.names import CHECKS, Checks
from simtmm.cuda.disagreement.order_trial import OrderTrial
from simtmm.cuda.execution.runtime.device_clock import Latencies
from simtmm.cuda.instead import trying
from simtmm.device import device_properties
from simtmm.device.host import host_of
from simtmm.device.own_clock import VIRTUAL
from simtmm.errors import OutputError, SimtmmError, escaped
from simtmm.machine import Machine
from simtmm.programs.budget import Budget
from simtmm.programs.callbacks import Callbacks, own_fault
from simtmm.programs.kernels import DeviceOfProgram, Modules
from simtmm.programs.library import Library
from simtmm.programs.memory import ProgramMemory
from simtmm.programs.progress import Told
from simtmm.programs.properties import told_properties
from simtmm.programs.recording import NoLaunchError, ProgramRecording
from simtmm.programs.repeats import Repeats
from simtmm.provenance import carry_out
from simtmm.recorder.selection import Selection
from simtmm.simulated_clock import clock_on
from simtmm.watch import followed_by, watched

if TYPE_CHECKING:
    from simtmm.cuda.checks.checker import Checker

WRONG = 2  # exit status where the program could not be run


def main(request: dict[str, Any]) -> None:
    """Run a program; does not come back, as the program ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the program begins, whose runtime has a handler
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("simtmm: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    carry_out(request["command"])
    machine = Machine.from_dict(request["machine"])
    library = Library(Path(request["runtime"]))
    properties = replace(device_properties(machine, request["architecture"]), warp_size=request["lanes"])
    for name, value in told_properties(properties, host_of(machine)).items():
        library.tell(name, value)
    library.tell("virtual_clock", int(request["clock"] == VIRTUAL))
    library.tell("host_time", int(request["host_time"]))
    if request["stop_seconds"] is not None:
        library.tell("stop_milliseconds", round(1000 * request["stop_seconds"]))
    library.name_device(properties.name)
    device = DeviceOfProgram(library.write, properties, Latencies.of(machine))
    checks = Checks(*(name in request["checks"] for name in CHECKS))
    library.tell("fill_unwritten", int(checks.initcheck))
    trial = OrderTrial(request["order"]) if request["order"] else None
    told = Told(Path(request["progress"])) if "progress" in request else None
    with (
        checking(checks) if checks.any else contextlib.nullcontext() as checker,
        watched(told.watch if told else None),
        followed_by(told.following) if told else contextlib.nullcontext(),
        trying(trial) if trial else contextlib.nullcontext(),
    ):
        try:
            _run(request, machine, library, device, checker, trial)
        except OutputError as error:  # before it has begun
            Path(request["outcome"]).write_text(json.dumps({"error": str(error)}))
            sys.exit(WRONG)


def _run(
    request: dict[str, Any], machine: Machine, library: Library, device: DeviceOfProgram, checker: "Checker | None",
    trial: OrderTrial | None,
) -> None:  # fmt: skip
    """Likewise. checker: takes the program's launches, if they are checked. trial: is asked about them."""
    device.memory = ProgramMemory(library, checker)
    modules = Modules(
        device, request["architecture"], Path(request["program"]), request["relocatable"],
        lambda number, name: library.is_managed(number, name),
    )  # fmt: skip
    recording = ProgramRecording(
        device, request["name"], Path(request["output"]), Selection(**request["selection"]), request["sample_blocks"],
        request["most_events"], clock_on(machine), lambda: library.is_stopping,
        None if checker or trial else Repeats(library, device), Budget(request["is_bounded"]),
    )  # fmt: skip

    def finish(status: int) -> None:
        """Write what was recorded, and what came of the program. A process that it forked has only a line to say."""
        if recording.is_forked:
            if recording.launched_in_fork:
                number = recording.launched_in_fork
                launches = "1 launch" if number == 1 else f"{number:,} launches"
                print(f"simtmm: note: {launches} of a forked process: run, but not in the report", file=sys.stderr)
            return
        outcome: dict[str, Any] = {
            "launched": recording.launched,
            "recorded": recording.recorded,
            "status": status,
            "not_run": recording.not_run,
            "told_error": bool(callbacks.error),
        }
        if trial is not None:
            outcome |= {"differs": trial.differs, "is_compared": trial.is_compared}
        try:
            if callbacks.fault:
                recording.abandon()
                outcome["error"] = outcome["fault"] = callbacks.fault
            else:
                recording.finish(request["warnings"])
        except NoLaunchError as error:
            outcome["error"] = callbacks.error or str(error)
            outcome["no_launch"] = not callbacks.error
        except SimtmmError as error:
            outcome["error"] = str(error)
        except BaseException as error:  # no exception may cross the library
            outcome["error"] = outcome["fault"] = str(own_fault(error))
        if checker is not None:
            outcome["checks"] = checker.found.to_dict()
        Path(request["outcome"]).write_text(json.dumps(outcome))

    callbacks = Callbacks(library, device, modules, recording, finish, request["stop_launches"])
    library.begin(callbacks.calls(), callbacks.make_texture)
    try:
        library.run(Path(request["program"]), request["words"])
    except OSError as error:
        Path(request["outcome"]).write_text(json.dumps({"error": f"{request['name']}: {escaped(str(error))}"}))
        os._exit(WRONG)  # nothing of the program's has begun


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
