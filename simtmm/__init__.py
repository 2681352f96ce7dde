"""simtmm: see threads hide memory latency.

Simulate real CUDA kernels on highly-threaded machines and set the simulated time beside the analytical models'.
The names below are loaded when they are first used, so that `import simtmm` is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from simtmm.provenance import VERSION

if TYPE_CHECKING:
    from simtmm.engine import simulate as simulate
    from simtmm.errors import SimtmmError as SimtmmError
    from simtmm.machine import Machine as Machine
    from simtmm.machine import load_machine as load_machine
    from simtmm.measurement.measure import measure as measure
    from simtmm.model import predict as predict
    from simtmm.recorder import record as record
    from simtmm.result import Measurement as Measurement
    from simtmm.result import Prediction as Prediction
    from simtmm.result import Result as Result
    from simtmm.trace.counts import Counts as Counts
    from simtmm.trace.counts import count as count
    from simtmm.trace.importers import import_trace as import_trace
    from simtmm.trace.io import Trace as Trace
    from simtmm.trace.io import load_trace as load_trace
    from simtmm.trace.lower import lower as lower
    from simtmm.workload import Workload as Workload
    from simtmm.workload import load_workload as load_workload

__version__ = VERSION

_HOMES = {
    "Counts": "simtmm.trace.counts",
    "Machine": "simtmm.machine",
    "Measurement": "simtmm.result",
    "Prediction": "simtmm.result",
    "Result": "simtmm.result",
    "SimtmmError": "simtmm.errors",
    "Trace": "simtmm.trace.io",
    "Workload": "simtmm.workload",
    "count": "simtmm.trace.counts",
    "import_trace": "simtmm.trace.importers",
    "load_machine": "simtmm.machine",
    "load_trace": "simtmm.trace.io",
    "load_workload": "simtmm.workload",
    "lower": "simtmm.trace.lower",
    "measure": "simtmm.measurement.measure",
    "predict": "simtmm.model",
    "record": "simtmm.recorder",
    "simulate": "simtmm.engine",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simtmm' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
