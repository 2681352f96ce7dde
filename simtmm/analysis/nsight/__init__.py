"""A run compared with what profilers measured of the same program on a GPU.

launches: each launch with its own measurement. sums: the times of a kernel's launches together. copies: those
between host and device. lines: counters by source line. instances: which kernel a measured name is. device: whether
the GPU is the machine. beside: all of it.
"""

from simtmm.analysis.nsight.beside import Beside, beside, opened_profile
from simtmm.analysis.nsight.copies import CopyBeside
from simtmm.analysis.nsight.launches import Compared, LaunchBeside
from simtmm.analysis.nsight.lines import LINES, KernelBeside, LineBeside
from simtmm.analysis.nsight.sums import SumBeside

__all__ = [
    "LINES",
    "Beside",
    "Compared",
    "CopyBeside",
    "KernelBeside",
    "LaunchBeside",
    "LineBeside",
    "SumBeside",
    "beside",
    "opened_profile",
]
