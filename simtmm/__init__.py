"""simtmm: see threads hide memory latency.

Simulate real CUDA kernels on highly-threaded machines and compare the simulated time with analytical models.
The names below are loaded at their first use, so that `import simtmm` is fast.
"""

from simtmm.children import safe_path

safe_path.leave_working_directory(__path__[0].rpartition("/")[0])  # before it can give us anything

import importlib  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

from simtmm.display import show_by  # noqa: E402
from simtmm.provenance import VERSION  # noqa: E402

if TYPE_CHECKING:
    from simtmm.analysis.comparison.comparison import Comparison as Comparison
    from simtmm.analysis.difference import Difference as Difference
    from simtmm.analysis.micro import Micro as Micro
    from simtmm.analysis.nsight.beside import Beside as Beside
    from simtmm.analysis.prediction.predictions import Predictions as Predictions
    from simtmm.analysis.run.outcome import Run as Run
    from simtmm.api.calibrate import calibrate as calibrate
    from simtmm.api.compare import compare as compare
    from simtmm.api.diff import diff as diff
    from simtmm.api.explanation import Explanation as Explanation
    from simtmm.api.explore import explore as explore
    from simtmm.api.hiding import crossover as crossover
    from simtmm.api.hiding import threads as threads
    from simtmm.api.hiding import zigzag as zigzag
    from simtmm.api.listing import kernels as kernels
    from simtmm.api.listing import machines as machines
    from simtmm.api.micro import micro as micro
    from simtmm.api.predictions import predictions as predictions
    from simtmm.api.record import record as record
    from simtmm.api.run import explain as explain
    from simtmm.api.run import run as run
    from simtmm.api.steps import count as count
    from simtmm.api.steps import lower as lower
    from simtmm.api.steps import predict as predict
    from simtmm.api.steps import simulate as simulate
    from simtmm.api.sweep import sweep as sweep
    from simtmm.api.tune import tune as tune
    from simtmm.calibration.values import Calibration as Calibration
    from simtmm.cuda.tensor_map import TensorMap as TensorMap
    from simtmm.cuda.texture import SurfaceObject as SurfaceObject
    from simtmm.cuda.texture import TextureObject as TextureObject
    from simtmm.errors import SimtmmError as SimtmmError
    from simtmm.kernel import load_kernel as load_kernel
    from simtmm.launch import Launch as Launch
    from simtmm.machine import Machine as Machine
    from simtmm.machine import load_machine as load_machine
    from simtmm.measurement.measure import measure as measure
    from simtmm.parameter import Parameter as Parameter
    from simtmm.recorder.direct.raw_kernel import RawKernel as RawKernel
    from simtmm.recorder.direct.raw_module import RawModule as RawModule
    from simtmm.report.notebook.picture import Picture as Picture
    from simtmm.result import Measurement as Measurement
    from simtmm.result import Prediction as Prediction
    from simtmm.result import Result as Result
    from simtmm.scripts.recording import recorded as recorded
    from simtmm.scripts.recording import recording as recording
    from simtmm.study.findings import Findings as Findings
    from simtmm.study.findings import findings as findings
    from simtmm.study.results import Results as Results
    from simtmm.trace.counts import Counts as Counts
    from simtmm.trace.importers import import_trace as import_trace
    from simtmm.trace.io import Trace as Trace
    from simtmm.trace.io import load_trace as load_trace
    from simtmm.workload import Workload as Workload
    from simtmm.workload import load_workload as load_workload

__version__ = VERSION

show_by(lambda: importlib.import_module("simtmm.report.notebook.renderers"))

_HOMES = {
    "Beside": "simtmm.analysis.nsight.beside",
    "Calibration": "simtmm.calibration.values",
    "Comparison": "simtmm.analysis.comparison.comparison",
    "Counts": "simtmm.trace.counts",
    "Difference": "simtmm.analysis.difference",
    "Explanation": "simtmm.api.explanation",
    "Findings": "simtmm.study.findings",
    "Launch": "simtmm.launch",
    "Machine": "simtmm.machine",
    "Measurement": "simtmm.result",
    "Micro": "simtmm.analysis.micro",
    "Parameter": "simtmm.parameter",
    "Picture": "simtmm.report.notebook.picture",
    "Prediction": "simtmm.result",
    "Predictions": "simtmm.analysis.prediction.predictions",
    "RawKernel": "simtmm.recorder.direct.raw_kernel",
    "RawModule": "simtmm.recorder.direct.raw_module",
    "Result": "simtmm.result",
    "Results": "simtmm.study.results",
    "Run": "simtmm.analysis.run.outcome",
    "SimtmmError": "simtmm.errors",
    "SurfaceObject": "simtmm.cuda.texture",
    "TensorMap": "simtmm.cuda.tensor_map",
    "TextureObject": "simtmm.cuda.texture",
    "Trace": "simtmm.trace.io",
    "Workload": "simtmm.workload",
    "calibrate": "simtmm.api.calibrate",
    "compare": "simtmm.api.compare",
    "count": "simtmm.api.steps",
    "crossover": "simtmm.api.hiding",
    "diff": "simtmm.api.diff",
    "explain": "simtmm.api.run",
    "explore": "simtmm.api.explore",
    "findings": "simtmm.study.findings",
    "import_trace": "simtmm.trace.importers",
    "kernels": "simtmm.api.listing",
    "load_kernel": "simtmm.kernel",
    "load_machine": "simtmm.machine",
    "load_trace": "simtmm.trace.io",
    "load_workload": "simtmm.workload",
    "lower": "simtmm.api.steps",
    "machines": "simtmm.api.listing",
    "measure": "simtmm.measurement.measure",
    "micro": "simtmm.api.micro",
    "predict": "simtmm.api.steps",
    "predictions": "simtmm.api.predictions",
    "record": "simtmm.api.record",
    "recorded": "simtmm.scripts.recording",
    "recording": "simtmm.scripts.recording",
    "run": "simtmm.api.run",
    "simulate": "simtmm.api.steps",
    "sweep": "simtmm.api.sweep",
    "threads": "simtmm.api.hiding",
    "tune": "simtmm.api.tune",
    "zigzag": "simtmm.api.hiding",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simtmm' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
