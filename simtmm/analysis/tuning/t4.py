"""The results of a search in T4, the format in which Kernel Tuner's community exchanges them.

Source: the schema results-schema.json, version 1.0.0, of the package kernel_tuner.
"""

import json
from pathlib import Path
from typing import Any

from simtmm.analysis.tuning.trial import Trial
from simtmm.analysis.tuning.tuned import Tuned
from simtmm.files import written_whole

VERSION = "1.0.0"
OBJECTIVE = "time"
INVALIDITY = {
    "done": "correct", "bounded": "timeout", "not compiled": "compile", "does not fit": "constraints",
    "failed": "runtime",
}  # fmt: skip


def results_of(tuned: Tuned) -> dict[str, Any]:
    """The document. Times are simulated, in ms; in cycles where the machine has no clock."""
    unit = "cycles" if tuned.best.seconds is None else "milliseconds"
    results = [_result(tuned, trial) for trial in tuned.trials]
    return {"schema_version": VERSION, "results": results, "metadata": {"timeunit": unit}}


def write_results(tuned: Tuned, path: Path) -> None:
    """Write the document to a file."""
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(results_of(tuned), indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _result(tuned: Tuned, trial: Trial) -> dict[str, Any]:
    is_done = trial.status == "done"
    is_met = not is_done or tuned.goals.met(trial)
    time, unit = (trial.cycles, "cycles") if trial.seconds is None else (1e3 * trial.seconds, "ms")
    measurements = [
        {"name": OBJECTIVE, "value": time, "unit": unit},
        {"name": "time_error", "value": trial.error * time, "unit": unit},
        {"name": "registers", "value": trial.registers, "unit": ""},
    ]
    names = [OBJECTIVE] if tuned.goals.is_time else list(tuned.goals.names)
    if is_done and not tuned.goals.is_time:
        goals = zip(names, tuned.goals.of(trial), strict=True)
        measurements += [{"name": name, "value": goal.value, "unit": ""} for name, goal in goals]
    return {
        "configuration": dict(trial.configuration),
        "times": {"runtimes": [time] if is_done else []},
        "invalidity": INVALIDITY[trial.status if is_met else "does not fit"],
        "correctness": 1,  # as Kernel Tuner has it: what is not correct stands in `invalidity`
        "measurements": measurements if is_done else [],
        "objectives": names,
    }
