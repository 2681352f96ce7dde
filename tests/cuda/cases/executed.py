"""Cases run by the execution on the CPU, many in one kernel: each is a scope of its own, compiled in a fraction of the
time that a kernel takes."""

import re
import struct
from collections.abc import Sequence

import numpy as np

from simtmm.cuda.compilers import CompiledModule
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from tests.cuda.cases.case import Case

ENTRY = re.compile(
    r"(?P<head>.*\.address_size 64\n)\.visible \.entry k\([^)]*\)\n\{\n(?P<body>.*)\n  ret;\n\}\n", re.DOTALL
)


def together(cases: Sequence[Case]) -> str:
    """The text of one kernel "k" that does what each of the cases does, one after the other."""
    heads, parameters, bodies = set(), [], []
    for number, case in enumerate(cases):
        found = ENTRY.fullmatch(case.text)
        assert found, f"{case.name} is not written by tests.cuda.cases.kernel"
        body = found["body"]
        for at in range(len(case.arrays)):
            parameters.append(f".param .u64 c{number}p{at}")
            body = body.replace(f"[p{at}]", f"[c{number}p{at}]")
        bodies.append("{\n" + body + "\n}\n")
        heads.add(found["head"])
    head = max(heads, key=len)  # of sm_100a, if there is one: it has what sm_90 has
    return f"{head}.visible .entry k({', '.join(parameters)})\n{{\n{''.join(bodies)}  ret;\n}}\n"


def executed(cases: Sequence[Case], quick: bool = False) -> list[list[np.ndarray]]:
    """The arrays of each case after a run of all, which are of one shape. quick: whether they are compiled so."""
    linked = LinkedModule([CompiledModule(together(cases), 100, name="cases.ptx")])
    device = Device()
    arrays = [case.fresh() for case in cases]
    addresses = [
        device.memory.place(f"{case.name} {at}", array)
        for case, own in zip(cases, arrays, strict=True)
        for at, array in enumerate(own)
    ]
    (shape,) = {(case.blocks, case.threads) for case in cases}
    parameters = struct.pack(f"<{len(addresses)}Q", *addresses)
    function = KernelFunction(linked, "k")
    device.launch(function.quick if quick else function, DeviceLaunch((shape[0], 1, 1), (shape[1], 1, 1), parameters))
    return arrays
