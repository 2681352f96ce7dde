"""Cases run by the plain interpreter."""

import numpy as np

from simtmm.cuda.ptx import parse_module
from tests.cuda.cases.case import Case
from tests.cuda.interpreter import Memory, run


def interpreted(case: Case) -> list[np.ndarray]:
    """The arrays after a run."""
    memory = Memory()
    arrays = case.fresh()
    for address, array in zip(case.addresses, arrays, strict=True):
        memory.allocate(array, address)
    run(parse_module(case.text), "k", (case.blocks, 1, 1), (case.threads, 1, 1), case.arguments, memory)
    return arrays
