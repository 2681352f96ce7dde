"""A pointer chase is compared with what reading at low occupancy takes."""

import numpy as np
import pytest

from simtmm import Machine, load_machine
from simtmm.calibration.calibrate import calibrate
from simtmm.calibration.chase import chase_values, memory_latency
from simtmm.calibration.chase_check import APART, checked_latency, latency_of_read, read_round
from simtmm.calibration.donors import left_out
from simtmm.calibration.latency_levels import LatencyCurve, find_levels, load_latency
from simtmm.calibration.streams.occupancy_curve import StreamPoint, load_stream
from simtmm.errors import StudyError
from simtmm.files import data_file

MACHINE = Machine.from_dict(
    {
        "name": "m",
        "clock_hz": 1e9,
        "ticks_per_cycle": 100,
        "cores": {"groups": 10, "cores_per_group": 64, "warp_width": 32, "max_threads_per_core": 32},
        "scheduling": {"block_launch": 200, "warp_launch": 50},
        "memory": {"latency": 1, "chunk_words": 32},
    }
)
NOTHING_KNOWN = MACHINE.replace({"scheduling.block_launch": 0})
# A warp a block takes 639 cycles a round: 10 groups * 32 threads * 8 bytes
POINTS = [StreamPoint(32, 1, 0.016, {"read": 10 * 32 * 8 / 639 * 1e9})]
CALIBRATED = {
    "v100": "v100",
    "a100_80": "a100-80",
    "a40": "a40",
    "gh200": "gh200",
    "mi210": "mi210",
    "mi300a": "mi300a",
}


def test_a_round_less_its_starts_is_the_reads_latency():
    read = read_round(MACHINE, POINTS, MACHINE)
    assert (read.cycles, read.latency) == pytest.approx((639, 639 - 200 - 50), rel=1e-12)


def test_a_chase_slower_than_a_whole_round_is_refused_with_both_numbers():
    read = read_round(MACHINE, POINTS, None)
    with pytest.raises(StudyError, match=r"L is 2000 cycles.*takes 639 cycles a round.*--latency-from read") as caught:
        checked_latency(2000, read)
    assert "\n" not in str(caught.value)


def test_a_chase_that_is_far_from_the_reads_latency_is_told():
    read = read_round(MACHINE, POINTS, MACHINE)
    assert checked_latency(389, read) is None
    assert "L is 300 cycles, the read kernel's about 389" in (checked_latency(300, read) or "")
    assert checked_latency(300, read_round(MACHINE, POINTS, None)) is None  # the starts may be that long


def test_latency_from_read_needs_the_starts_of_blocks():
    assert latency_of_read(read_round(MACHINE, POINTS, MACHINE), "s").value == 389
    with pytest.raises(StudyError, match=r"scheduling\.block_launch above 0"):
        latency_of_read(read_round(MACHINE, POINTS, NOTHING_KNOWN), "s")
    with pytest.raises(StudyError, match=r"latency from read: needs bandwidth over occupancy"):
        calibrate("m", LatencyCurve(np.ones(1), np.ones(1)), latency_from="read")


@pytest.mark.parametrize("gpu", CALIBRATED)
def test_chase_and_read_agree_on_gpus_whose_clock_was_up(gpu):
    """With the starts of the other GPUs of a family, never its own."""
    machine = load_machine(CALIBRATED[gpu])
    others, _ = left_out(machine, [load_machine(name) for name in CALIBRATED.values()], measured=True)
    stream = load_stream(data_file("traces", "measured/stream_occupancy.csv"), gpu)
    chase = memory_latency(load_latency(data_file("traces", "measured/latency_curves.csv"), gpu))
    read = read_round(machine, stream, others)
    assert read.latency is not None
    # A tenth, by what blocks take to start on other GPUs; half of what is told.
    assert read.latency == pytest.approx(chase, rel=(APART - 1) / 2 + 0.01)
    assert checked_latency(chase, read) is None


def test_with_latency_from_read_no_cache_is_as_slow_as_memory():
    """The chase of an RX 6900 XT, whose memory clock was idle: its Infinity Cache is no L2 of the machine."""
    chase = load_latency(data_file("traces", "measured/latency_curves.csv"), "rx6900xt")
    with pytest.raises(StudyError, match="was a clock idle"):
        calibrate("m", chase, POINTS, MACHINE)
    memory = latency_of_read(read_round(MACHINE, POINTS, MACHINE), "s")
    values, notes = chase_values(chase, find_levels(chase), "c", 128, memory)
    found = {value.key: value.value for value in values}
    assert found["memory.latency"] == 389
    assert found["memory.l2.latency"] == pytest.approx(221.5, abs=1)
    left = [note.split(" from ")[0] for note in notes]
    assert left == ["a level of 124.1 cycles", "a level of 423.1 cycles", "a level of 1999.9 cycles"]
