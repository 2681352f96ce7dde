"""The clock: what events are read from; each launch takes what it is simulated to take."""

import dataclasses
import gc
import itertools
import weakref

import numpy as np
import pytest

import simtmm
from simtmm.analysis.run import run
from simtmm.device.host import host_of
from simtmm.errors import RecordingError
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.direct import current
from simtmm.recorder.direct.clock import Clock, KnownTraces, LaunchListener
from simtmm.trace.schema import Batch, TraceLaunch
from tests.cuda.compilers.conftest import needs_nvrtc
from tests.recorder.direct.kernels import SAXPY, saxpy_arrays
from tests.trace.build import store, trace


class OneLaunch:
    """As much of a trace as a clock looks at."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.info = self
        self.digest = self.kernel = f"{seconds}"


@pytest.fixture
def clock():
    return Clock(lambda trace, *_: trace.seconds)


def elapsed(clock, *work, begin_on=0, end_on=0):
    begin = clock.mark(begin_on)
    for stream, seconds in work:
        clock.launched(OneLaunch(seconds), stream)
    return clock.seconds(begin, clock.mark(end_on))


def test_launches_of_a_stream_come_one_after_another(clock):
    assert elapsed(clock, (0, 1.0), (0, 2.0), (0, 1.0)) == 4


def test_launches_of_two_streams_run_one_after_another_and_the_default_stream_waits_for_both(clock):
    assert elapsed(clock, (1, 1.0), (2, 3.0)) == 4


def test_streams_wait_for_the_default_one(clock):
    assert elapsed(clock, (0, 2.0), (1, 1.0), begin_on=1, end_on=1) == 3


def test_a_stream_waits_for_an_event_of_another(clock):
    begin = clock.mark(1)
    clock.launched(OneLaunch(3.0), 2)
    clock.wait(clock.mark(2), 1)
    clock.launched(OneLaunch(1.0), 1)
    assert clock.seconds(begin, clock.mark(1)) == 4


def test_what_is_launched_after_the_host_has_waited_begins_then(clock):
    begin = clock.mark(1)
    clock.launched(OneLaunch(3.0), 2)
    clock.synchronize()
    clock.launched(OneLaunch(1.0), 1)
    assert clock.seconds(begin, clock.mark(1)) == 4


def test_a_launch_that_follows_another_in_a_graph_is_spared_a_part():
    clock = Clock(lambda trace, *_: trace.seconds, spared_in_graph=0.25)
    begin = clock.mark()
    clock.launched(OneLaunch(1.0))
    clock.launched(OneLaunch(1.0), follows_in_graph=True)
    assert clock.seconds(begin, clock.mark()) == 1.75


def test_equal_launches_are_simulated_once():
    asked = []
    clock = Clock(lambda trace, *_: asked.append(trace) or 1.0)
    assert elapsed(clock, (0, 1.0), (0, 1.0)) == 2
    assert len(asked) == 1


def test_a_launch_of_which_a_part_is_there_is_simulated_as_one_of_so_many_blocks():
    clock = Clock(lambda trace, _, blocks: trace.seconds * (blocks or 1))
    begin = clock.mark()
    clock.launched(OneLaunch(3.0), 0, blocks=2)
    clock.launched(OneLaunch(3.0), 0)
    assert clock.seconds(begin, clock.mark()) == 9


@needs_nvrtc
def test_a_launch_takes_what_a_run_of_it_takes_whether_it_is_recorded_or_not():
    machine = simtmm.load_machine("h100-sxm")
    kernel = simtmm.RawKernel(SAXPY, "saxpy")
    x, y = saxpy_arrays()
    expected = 2 * x + (2 * x + (2 * x + y))
    with simtmm.recording(machine, launch=2) as recording:
        kernel((4,), (256,), (1000, np.float32(2), x, y))  # not listened to
        own_clock = current.clock()
        marks = [own_clock.mark()]
        for _ in range(2):
            kernel((4,), (256,), (1000, np.float32(2), x, y))
            marks.append(current.clock().mark())
        first, second = (current.clock().seconds(*pair) for pair in itertools.pairwise(marks))
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    assert (recording.launches, recording.launched) == (1, 3)
    assert recording.trace.info.warnings == ["1 of 3 launches are recorded: --launch 2"]
    alone = run(recording.trace, machine, what_if=False).result.seconds
    host = host_of(machine)
    assert 0 < alone < host.call("launch")
    assert first == second == pytest.approx(host.call("launch") + host.call("record"))  # shorter than its call
    assert own_clock.seconds_of(recording.trace) == alone


class Accesses:
    """Kernels that are launched often, with arguments that change what they compute and others that change where."""

    SOURCE = """extern "C" __global__ void add(float *x, float v, int from) { x[from + threadIdx.x] += v; }"""

    def __init__(self, monkeypatch):
        self.made = []
        monkeypatch.setattr("simtmm.recorder.direct.clock.finished", self._finished)
        self.kernel, self.x = simtmm.RawKernel(self.SOURCE, "add"), np.zeros(1 << 16, np.float32)

    def _finished(self, *arguments):
        self.made.append(finished(*arguments))
        return self.made[-1]

    def seconds(self, *launches):
        """What each takes of the device, launched with a value and a place."""
        found, machine = [], simtmm.load_machine("h100-sxm").replace({"memory.l2.start": "kept"})
        with simtmm.recording(machine):
            for value, place in launches:
                begin = current.clock().mark()
                self.kernel((1,), (256,), (self.x, np.float32(value), np.int32(place)))
                found.append(current.clock().busy_seconds(begin, current.clock().mark()))
        return found


@needs_nvrtc
def test_the_trace_of_a_launch_serves_for_those_that_access_the_same(monkeypatch):
    accesses = Accesses(monkeypatch)
    once, again, elsewhere, back = accesses.seconds((1, 0), (2, 0), (2, 40000), (3, 0))
    assert len(accesses.made) == 2
    assert accesses.x[0] == 6
    assert accesses.x[40000] == 2
    assert again == pytest.approx(back)
    assert once > again  # it has loaded what the second one finds in the L2
    assert elsewhere > again


def changed(batch, **parts):
    return dataclasses.replace(batch, **parts)


def test_each_part_of_what_a_launch_did_tells_its_trace_from_that_of_another(monkeypatch):
    """And the objects whose ids are in the key live as long as the trace is kept."""
    monkeypatch.setattr("simtmm.recorder.direct.clock.finished", lambda *given: object())
    events = np.concatenate(
        [each.events for each in trace([[[store(0, 4 * lane)] for lane in range(32)]] * 2).batches()]
    )
    numbers = np.arange(2, dtype=np.int32)
    batch = Batch(events, np.zeros(2, np.int32), numbers, np.array([len(events) // 2, len(events)]))
    launch = TraceLaunch("k", (2, 1, 1), (32, 1, 1), 0, 0)
    moved = batch.events.copy()
    moved["value"] += 4
    known, objects = KnownTraces(), [OneLaunch(number) for number in range(4)]
    runs, linked, *others = objects

    def made(batch, launch=launch, runs=runs, linked=linked, blocks=None):
        listener = LaunchListener(launch, known)
        listener.add(batch)
        return listener.trace(runs, linked, blocks)[0]

    usual = made(batch)
    assert made(changed(batch)) is usual
    assert made(changed(batch, launch=batch.launch + 1)) is usual  # whatever number the launch has
    other = [
        made(changed(batch, events=moved)),
        made(changed(batch, block=batch.block[::-1].copy())),
        made(changed(batch, ends=batch.ends + np.array([-1, 0]))),
        made(changed(batch, spared=1)),
        made(batch, dataclasses.replace(launch, kernel="other")),
        made(batch, runs=others[0]),
        made(batch, linked=others[1]),
        made(batch, blocks=1),
    ]
    assert len({id(each) for each in [usual, *other]}) == 1 + len(other)
    kept = weakref.ref(linked)
    del linked, objects, made
    gc.collect()
    assert kept() is not None


@needs_nvrtc
def test_only_so_many_traces_are_kept(monkeypatch):
    monkeypatch.setattr("simtmm.recorder.direct.clock.MOST_KNOWN", 2)
    accesses = Accesses(monkeypatch)
    accesses.seconds((1, 0), (1, 512), (1, 0), (1, 1024), (1, 0), (1, 512))
    assert len(accesses.made) == 4  # the second place was looked at least lately when the third one came


@needs_nvrtc
def test_long_launches_are_not_compared(monkeypatch):
    monkeypatch.setattr("simtmm.recorder.direct.clock.MOST_COMPARED", 100)
    accesses = Accesses(monkeypatch)
    first, second = accesses.seconds((1, 0), (1, 0))
    assert len(accesses.made) == 2
    monkeypatch.undo()
    assert Accesses(monkeypatch).seconds((1, 0), (1, 0)) == pytest.approx([first, second])


def test_without_a_machine_there_is_no_clock():
    with pytest.raises(RecordingError, match="elapsed time: is simulated, which needs a machine"):
        current.clock()


@needs_nvrtc
def test_a_selection_that_takes_no_launch_says_so():
    kernel = simtmm.RawKernel(SAXPY, "saxpy")
    x, y = saxpy_arrays()
    with simtmm.recording(kernel="gemm") as recording:
        kernel((4,), (256,), (1000, np.float32(2), x, y))
    with pytest.raises(RecordingError, match="recorded none of its 1 launches: --kernel gemm selects none of them"):
        _ = recording.trace
