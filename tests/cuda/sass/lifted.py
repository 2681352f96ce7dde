"""Cases of one instruction, assembled for an architecture, lifted back and run: many in one kernel."""

import re
import struct
from collections.abc import Sequence

import numpy as np

from simtmm.cuda.compilers import module_of_ptx
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from tests.cuda.cases.case import Case
from tests.cuda.cases.executed import together

# What ptxas takes for sm_90 and not for sm_75.
_NEWER = re.compile(r"bf16|e4m3|e5m2|(?<!f)16x2|relu|tf32|NaN|xorsign|(min|max).*f16")


def machine_function(text: str, architecture: int) -> MachineFunction:
    """A kernel "k", assembled for an architecture (90) and lifted back.

    It is compiled quickly, here as below: tests/recorder/compiled runs machine code that is compiled as users' is.
    """
    text = re.sub(r"\.target \S+", f".target sm_{architecture}", text)
    return MachineFunction(KernelFunction(LinkedModule([module_of_ptx(text, "cases", architecture)]), "k")).quick


def run_lifted(cases: Sequence[Case], architecture: int) -> list[list[np.ndarray]]:
    """The arrays of each case after a run of all, which are of one shape, as machine code."""
    function = machine_function(together(cases), architecture)
    device = Device()
    arrays = [case.fresh() for case in cases]
    addresses = [
        device.memory.place(f"{case.name} {at}", array)
        for case, own in zip(cases, arrays, strict=True)
        for at, array in enumerate(own)
    ]
    (shape,) = {(case.blocks, case.threads) for case in cases}
    parameters = struct.pack(f"<{len(addresses)}Q", *addresses)
    device.launch(function, DeviceLaunch((shape[0], 1, 1), (shape[1], 1, 1), parameters))
    return arrays


def sample(cases: Sequence[Case], count: int, first: int, architecture: int) -> list[Case]:
    """So many of the cases that an architecture has, evenly spread, from one on."""
    known = [case for case in cases if architecture >= 90 or not _NEWER.search(case.name)]
    return known[first :: max(1, len(known) // count)][:count]
