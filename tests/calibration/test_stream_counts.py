"""Counts of the streaming kernels without a trace are those of a trace."""

import pytest

from simtmm import count, load_machine, record
from simtmm.calibration.streams.counts import stream_counts
from simtmm.errors import StudyError
from simtmm.measurement.stream_operations import OPERATIONS
from tests.recorder.conftest import needs_compiler

BLOCKS = 5


# Warps of 24, whose elements of 8 bytes fill one and a half chunks of 128
MACHINES = {
    **{name: load_machine(name) for name in ("a100-80", "mi210")},
    "warps of 24": load_machine("a100-80").replace({"cores.warp_width": 24, "memory.chunk_words": 32}),
}


@needs_compiler
@pytest.mark.parametrize("block_size", [16, 96])
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", MACHINES)
def test_counts_are_those_of_a_trace(operation, block_size, name):
    machine = MACHINES[name]
    given = {"operation": operation, "n": BLOCKS * block_size, "threads": block_size}
    counted = count(record("stream", given), machine)
    assert stream_counts(operation, block_size, BLOCKS, machine, counted.launches[0].active_blocks) == counted


def test_an_unknown_kernel_is_refused():
    with pytest.raises(StudyError, match="operation 'copy': unknown"):
        stream_counts("copy", 32, 1, load_machine("v100"), 1)
