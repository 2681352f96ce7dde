"""Streams, a chase and small kernels fitted jointly: what comes back, what stays, and that nothing gets worse."""

import numpy as np
import pytest

from simtmm import Machine, load_machine
from simtmm.calibration.calibrate import calibrate
from simtmm.calibration.hierarchy.fits import FITS
from simtmm.calibration.hierarchy.joint import JointFit, Start, Told
from simtmm.calibration.hierarchy.measured import MeasuredSet
from simtmm.calibration.hierarchy.simulated import SimulatedSet
from simtmm.calibration.hierarchy.streams import ChaseSet, StreamSet
from simtmm.calibration.hierarchy.together import Together, with_partitions
from simtmm.calibration.latency_levels import LatencyCurve
from simtmm.calibration.streams import occupancy_curve as curves
from simtmm.calibration.streams.kernels import stream_bandwidth
from simtmm.calibration.streams.occupancy_curve import StreamPoint, bandwidths, occupancy_curve
from simtmm.calibration.streams.part import MachinePart
from tests.calibration.test_hierarchy import MACHINE, SMALL, STRIDES, measured

LAYOUT = ((32, 1), (64, 1), (96, 1), (64, 2), (128, 2), (256, 2), (512, 2))
OPERATIONS = ("init", "read", "scale", "stencil5")
OTHER = {"scheduling.block_launch": 450, "memory.fetch_interval": 14.0, "scheduling.launch_overhead": 3100}


def points(machine, operations=OPERATIONS):
    """What streams would take on that machine."""
    return [
        StreamPoint(size, blocks, size * blocks / 1536, {
            name: stream_bandwidth(machine, name, size, blocks) for name in operations
        }) for size, blocks in LAYOUT
    ]  # fmt: skip


def chase(latency):
    return LatencyCurve(2.0 ** np.arange(11, 30, 0.25), np.full(76, float(latency)), MACHINE.clock_hz)


def small(truth):
    return measured("small", SMALL, truth)


def streams(machine, truth, hold=()):
    return StreamSet(machine, points(truth), "stream.csv", hold, None)


@pytest.mark.parametrize(("own", "fitted"), [("rotated", "rotated"), ("hash", "hash"), ("modulo", "hash")])
def test_chunks_lie_in_partitions_as_the_machine_has_them_unless_they_are_in_turn(own, fitted):
    machine = MACHINE.replace({"memory.interleave": own})
    part = MachinePart(machine, [StreamPoint(32, 1, 0.1, {"read": 1e11})], ())
    assert part.machine.memory.interleave == part.whole.memory.interleave == fitted


@pytest.mark.parametrize(
    ("sheet", "most"),
    [
        (None, 1.25e11),  # of what the quickest kernel moved
        (1e11, 1.028e11),  # with hashed partitions the longest fills keep 0.973 of this busy
        (2e11, 1.25e11),
        (9e10, 1e11),  # what was measured is there, whatever the data sheet says
    ],
)
def test_partitions_write_no_more_than_a_data_sheet_says_for_the_longest_fills(sheet, most):
    machine = Machine.from_dict({**MACHINE.to_dict(), "sources": {}, "peak_bandwidth": sheet})
    part = MachinePart(machine, [StreamPoint(32, 1, 0.1, {"read": 1e11})], ())
    assert part.most_written * part.scale == pytest.approx(most)
    of = StreamSet(machine, [StreamPoint(32, 1, 0.1, {"read": 1e11})], "stream.csv", (), None)
    for partitions in (16, 64):
        chunks = partitions * machine.chunk_bytes * machine.clock_hz
        found = of.least_services(machine.replace({"memory.partitions": partitions}))
        assert [chunks / least for least in found] == [pytest.approx(1.25e11), pytest.approx(most)]


@pytest.mark.parametrize(
    ("own", "values", "bounded"),
    [
        ({}, {"memory.service": 9.0, "memory.write_share": 0.9}, {"memory.service": 9.0, "memory.write_share": 1.1112}),
        ({}, {"memory.service": 9.0, "memory.write_share": 1.2}, {"memory.service": 9.0, "memory.write_share": 1.2}),
        ({}, {"memory.service": 9.0}, {"memory.service": 10.0}),
        ({}, {"memory.service": 11.0}, {"memory.service": 11.0}),
        ({}, {"memory.turnaround": 9.0}, {"memory.turnaround": 9.0}),
        ({"memory.write_share": 2}, {"memory.service": 4.0}, {"memory.service": 5.0}),
        # A machine that writes faster, in 8 cycles, stays one that does
        ({"memory.service": 8}, {"memory.service": 6.0, "memory.write_share": 1.0}, {"memory.write_share": 1.3334}),
    ],
)
def test_partitions_that_are_fitted_write_no_faster_than_they_may_or_did(own, values, bounded):
    machine = MACHINE.replace({"memory.service": 12, "memory.turnaround": 1, **own})
    fit = JointFit(Told([], None), [*values], lambda machine: (1.0, 10.0))
    assert fit._bounded(Start(machine, {}), values) == {**values, **bounded}


@pytest.fixture(scope="module")
def found():
    """From streams and small kernels of a machine whose blocks and launches start later, and whose loads wait."""
    truth = MACHINE.replace(OTHER)
    begin = ChaseSet(chase(truth.memory.latency), "chase.csv", 2.0**28)
    return truth, Together(MACHINE, [small(truth)], streams(MACHINE, truth), begin).run()


def test_values_of_streams_and_of_small_kernels_come_back_together(found):
    truth, joint = found
    values = {value.key: value for value in joint.values}
    for key, value in OTHER.items():
        # 6 %: the simulation is a staircase of waves, whose steps are some per cent of the bandwidth.
        assert values[key].value == pytest.approx(value, rel=0.06), key
    assert values["scheduling.block_launch"].measurement == "stream.csv"
    assert values["scheduling.launch_overhead"].measurement == "rows.csv"
    assert "memory.latency" not in values
    assert joint.curve.mean_error() < 0.02 < occupancy_curve(MACHINE, points(truth)).mean_error()


def test_each_set_is_met_better_also_where_it_was_left_out(found):
    _, joint = found
    by_kind = {each.kind: each for each in joint.sets}
    assert by_kind.keys() == {"small", "streams", "chase"}
    for kind in ("small", "streams"):
        assert by_kind[kind].after < by_kind[kind].before
        assert by_kind[kind].left_out < by_kind[kind].before


def test_what_stays_is_named(found):
    _, joint = found
    changed = {value.key for value in joint.values}
    named = {note.split(":")[0] for note in joint.notes}
    fitted = {fit.key for fit in FITS if {"streams", "small"} & set(fit.shown_by)}
    has = {key for key, value in MACHINE.values().items() if value is not None}
    assert fitted & has <= changed | named | {"memory.port_interval"}  # a machine with a pipe has no use for it


def test_a_machine_that_meets_its_measurements_stays_as_it_is():
    joint = Together(MACHINE, [small(MACHINE)], streams(MACHINE, MACHINE)).run()
    assert joint.values == ()
    assert joint.curve.mean_error() == pytest.approx(0, abs=1e-9)
    assert [each.after for each in joint.sets] == pytest.approx([0, 0], abs=1e-9)


def test_values_that_make_streams_worse_over_all_points_are_left(monkeypatch):
    truth = MACHINE.replace({**OTHER, "memory.pipe.tag_interval": 0.8})
    sets = [measured("strides", STRIDES, truth), small(truth)]
    own = streams(MACHINE, truth)
    monkeypatch.setattr(own, "compared", lambda given, found: (False, own.curve(found), 0.05, 0.02))
    joint = Together(MACHINE, sets, own).run()
    left = {value.key for value in joint.values}
    assert left - {"scheduling.graph_launch_overhead"} == {"scheduling.launch_overhead"}  # which no stream feels
    assert any("streams over occupancy would be off by 5.00% for 2.00%: left as before" in note for note in joint.notes)
    assert joint.curve.machine == MACHINE


def test_a_part_says_which_machine_is_nearer_as_the_whole_does():
    truth = MACHINE.replace(OTHER)
    of_truth, whole = streams(MACHINE, truth), points(truth)
    for better, worse in ((truth, MACHINE), (MACHINE.replace({"scheduling.block_launch": 400}), MACHINE)):
        nearer, curve, off, own = of_truth.compared(worse, better)
        assert nearer
        assert off == pytest.approx(occupancy_curve(better, whole).mean_error())
        assert own == pytest.approx(occupancy_curve(worse, whole).mean_error(), rel=0.1)  # of short runs: 2 % for 20
        assert curve.machine == better
        assert not of_truth.compared(better, worse)[0]


def test_a_part_is_what_the_whole_is_once_it_is_corrected():
    machine = MACHINE.replace({"cores.groups": 40, "memory.partitions": 40})
    own = streams(machine, MACHINE)
    assert own.part.scale == 4
    own.correct(machine)
    assert own.residuals(machine) == pytest.approx(own.exact(machine))


@pytest.mark.parametrize(("groups", "scale"), [(9, 1), (40, 4), (104, 8), (228, 14.25)])
def test_a_part_has_an_eighth_of_the_groups_and_ten_to_sixteen(groups, scale):
    assert streams(MACHINE.replace({"cores.groups": groups}), MACHINE).part.scale == scale


def test_partitions_share_what_all_of_them_move():
    twice = with_partitions(MACHINE, 2 * MACHINE.memory.partitions)
    assert twice.memory.service / twice.memory.partitions == MACHINE.memory.service / MACHINE.memory.partitions
    assert with_partitions(twice, MACHINE.memory.partitions).values() == MACHINE.values()


def test_what_ran_before_does_not_run_again(monkeypatch):
    runs = []
    monkeypatch.setattr(curves, "stream_bandwidth", lambda machine, name, *_: runs.append(name) or 1e9)
    known = {}
    point = StreamPoint(64, 1, 0.1, {})
    first = bandwidths([(MACHINE, "read", point)], known=known)
    # A kernel that stores nothing does not feel it.
    again = bandwidths([(MACHINE.replace({"memory.store_latency": 99.0}), "read", point)], known=known)
    assert (runs, first) == (["read"], again)
    bandwidths([(MACHINE.replace({"memory.fetch_interval": 99.0}), "read", point)], known=known)
    assert runs == ["read", "read"]


def test_small_kernels_run_again_where_a_value_of_streams_changes():
    rows = SimulatedSet(MeasuredSet("small", "rows.csv", SMALL, {}), MACHINE)
    later = MACHINE.replace({"scheduling.block_launch": 2 * MACHINE.scheduling.block_launch})
    assert (rows.residuals(later) > rows.residuals(MACHINE)).all()


def test_a_held_value_stays():
    truth = MACHINE.replace(OTHER)
    joint = Together(MACHINE, [], streams(MACHINE, truth, ["scheduling.block_launch"])).run()
    assert "scheduling.block_launch" not in {value.key for value in joint.values}


def test_a_chase_sees_one_of_the_copies_that_an_l2_keeps():
    """A line that both halves of an L2 keep fills the room of two."""
    sizes = 1024 * 2 ** np.arange(0, 21, 0.1)
    plateaus = np.select([sizes <= 2**17, sizes <= 2**22], [30.0, 200.0], 600.0)
    curve = LatencyCurve(sizes, plateaus, MACHINE.clock_hz)
    one = calibrate("m", curve, base=MACHINE.replace({"memory.l2.copies": 1})).machine.memory.l2
    two = calibrate("m", curve, base=MACHINE.replace({"memory.l2.copies": 2})).machine.memory.l2
    assert (two.sets, two.ways) == (2 * one.sets, one.ways)
    assert one.sets * one.ways * MACHINE.chunk_bytes == pytest.approx(2**22, rel=0.05)  # of two points


@pytest.mark.parametrize(("groups", "part"), [(5, 5), (12, 12), (19, 16), (35, 12), (80, 10), (132, 16), (228, 16)])
def test_streams_are_fitted_on_a_part_of_at_least_ten_groups_where_there_are_so_many(groups, part):
    machine = load_machine("a40").replace({"cores.groups": groups})
    of = MachinePart(machine, [StreamPoint(32, 1, 0.1, {"read": 1e11})], ())
    assert (of.machine.cores.groups, of.scale) == (part, groups / part)
    assert of.whole.cores.groups == groups
