"""A gate for continuous integration: kernels' simulated times compared with a baseline.

kernels_file   kernels.toml: which kernels are run, how, and on which machines
baseline their results, as stored in a file
comparison     both side by side: what grew by more than is allowed, and what else changed
"""

from simtmm.analysis.gate.baseline import Baseline, Timed, load_baseline, new_baseline
from simtmm.analysis.gate.comparison import Comparison, Row, compared
from simtmm.analysis.gate.kernels_file import GateKernel, load_kernels, timed

__all__ = [
    "Baseline",
    "Comparison",
    "GateKernel",
    "Row",
    "Timed",
    "compared",
    "load_baseline",
    "load_kernels",
    "new_baseline",
    "timed",
]
