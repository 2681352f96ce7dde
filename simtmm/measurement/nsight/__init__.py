"""What Nsight Compute and Nsight Systems measured, from what they export as CSV.

exports: the tables in a file. launches, source, systems: of each kind of table. numbers, names: as they write them.
counters: quantities that simtmm has, too. device: the GPU they are of. profile: all of it.
"""

from simtmm.measurement.nsight.counters import COUNTED, METRICS
from simtmm.measurement.nsight.device import UNKNOWN, Device
from simtmm.measurement.nsight.launches import NsightLaunch, of_shape
from simtmm.measurement.nsight.names import KernelName, kernel_name
from simtmm.measurement.nsight.profile import COMPUTE, SYSTEMS, Profile, load_nsight, load_profile
from simtmm.measurement.nsight.source import SAMPLES, SourcePage, SourceRow
from simtmm.measurement.nsight.systems import TimeSum

__all__ = [
    "COMPUTE",
    "COUNTED",
    "METRICS",
    "SAMPLES",
    "SYSTEMS",
    "UNKNOWN",
    "Device",
    "KernelName",
    "NsightLaunch",
    "Profile",
    "SourcePage",
    "SourceRow",
    "TimeSum",
    "kernel_name",
    "load_nsight",
    "load_profile",
    "of_shape",
]
