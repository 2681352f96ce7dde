"""The predictions of all models for a program on a machine."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from simtmm.analysis.prediction.measured import check_factor, measured_time
from simtmm.analysis.prediction.predict import is_algorithm, predict_paper, predict_program, refuse_foreign
from simtmm.analysis.prediction.predictions import Predictions
from simtmm.api.opening import opened_machine
from simtmm.errors import ModelError, shown
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.trace.io import Trace
from simtmm.watch import Watch, watched


def predictions(  # noqa: PLR0913 - each is an option of the verb
    source: str | Path | Kernel | Trace,
    machine: Machine | str | Path = "gtx280",
    parameters: Mapping[str, object] | None = None,
    models: str | Iterable[str] = (),
    *,
    threads: float | None = None,
    variant: str | None = None,
    form: str | None = None,
    constants: Mapping[str, float] | None = None,
    unit: str | None = None,
    active_blocks: int | None = None,
    measured: float | str | Path | None = None,
    factor: float | None = None,
    watch: Watch | None = None,
) -> Predictions:
    """Predict a program's time with all models: `simtmm run --models-only` and `paper predict` as a function.

    source: an algorithm of the papers by name; a kernel by name or folder, which is recorded first; a file of launches
        (.toml); a trace's file (.parquet); a Kernel or a Trace.
    machine: a Machine, a machine's name, or a path to its file (.toml).
    parameters: an algorithm's symbols, or a kernel's parameters that differ from its defaults.
    models: names of models for a kernel or trace; all if left out.
    threads: threads per core of an algorithm; if left out, as many as it supplies and the machine holds.
    variant: the algorithm's variant, if it has several, such as "printed" or "mended".
    form: how to record a kernel: "written", "compiled" or "ptx" (see `record`).
    constants: constants of the calibrated model: a1, a0, m, C_s, G, f_app.
    unit: the unit of a1 and a0: "cycles" (the default) or "s".
    active_blocks: the largest number of a kernel's blocks on a core group.
    measured: a measured time [s], or a file of such times, to compare with the predictions.
    factor: the largest ratio at which a measured time agrees; 2 if left out.
    watch: called with (stage, done, total if known) as the work proceeds.

    `.predictions` has each model's Prediction by name, `.to_frame()` is a table of them.

    Raises ModelError for unknown models, symbols outside their domain and arguments that the source does not have;
    KernelError, TraceError, MachineError.
    """
    of_paper = is_algorithm(source)
    of_counts = {"models": models, "form": form, "constants": constants, "unit": unit, "active_blocks": active_blocks}
    foreign = of_counts if of_paper else {"threads": threads, "variant": variant}
    refuse_foreign(of_paper, [name for name, value in foreign.items() if value is not None and value != ()])
    if unit is not None and not constants:
        raise ModelError("unit: needs constants, whose unit it is")
    check_factor(factor, None if measured is None else str(measured))
    time = measured_time(None if measured is None else str(measured), of_paper)
    on = opened_machine(machine)
    with watched(watch):
        if of_paper:
            found = predict_paper(str(source), on, _numbers(parameters or {}), threads, variant)
        else:
            found = predict_program(
                source,
                on,
                parameters,
                [models] if isinstance(models, str) else list(models),
                constants,
                unit or "cycles",
                active_blocks=active_blocks,
                form=form,
            )
    if time is None:
        return found
    return time.beside(found, on.name if isinstance(machine, Machine) else str(machine), factor)


def _numbers(symbols: Mapping[str, object]) -> dict[str, float]:
    """An algorithm's symbols. Raises ModelError for one that is no number."""
    for name, value in symbols.items():
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise ModelError(f"{name} = {shown(value)}: must be a number")
    return cast(dict[str, float], dict(symbols))
