"""Streams and events: one behaviour under the names of CuPy, cuda.core, CUDA's driver and PyTorch."""

import gc
from types import SimpleNamespace

import pytest

from simtmm.cuda.execution.livelock.others import other_streams
from simtmm.errors import RecordingError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.clock import Clock
from simtmm.recorder.direct.streams import DeviceEvent, DeviceStream, milliseconds_between
from simtmm.scripts.cupy.cuda import stream as cupy
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.core_device import CoreStream
from simtmm.scripts.numba_cuda.driver import EmulatedDriver
from simtmm.scripts.triton import torch_device as torch
from tests.recorder.direct.test_clock import OneLaunch


@pytest.fixture
def clock(monkeypatch):
    found = Clock(lambda trace, *_: trace.seconds)
    monkeypatch.setattr(current, "_recording", SimpleNamespace(clock=found))
    found.arm()
    return found


def driver():
    binding = SimpleNamespace(
        CUcontext=int, CUstream=int, CUevent=int, CUevent_flags=SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    )
    return EmulatedDriver(binding, DeviceBlocks())


def numba_stream():
    found = driver()
    handle = found.cuStreamCreate(0)
    return handle, lambda: found.cuStreamSynchronize(handle)


def numba_event():
    found = driver()
    event, stream = found.cuEventCreate(0), 0
    found.cuEventRecord(event, stream)
    return lambda: found.cuEventSynchronize(event)


def recorded(event):
    event.record()
    return event.synchronize


STREAMS = {
    "cupy": lambda: (found := cupy.Stream()) and (found.ptr, found.synchronize),
    "cupy, external": lambda: (9, cupy.ExternalStream(9).synchronize),
    "cuda.core": lambda: (7, CoreStream(7).sync),
    "numba": numba_stream,
    "torch": lambda: (0, torch.Stream().synchronize),
    "torch, default": lambda: (0, torch.Stream.default().synchronize),
}
EVENTS = {
    "cupy": lambda: recorded(cupy.Event()),
    "cupy, without timing": lambda: recorded(cupy.Event(disable_timing=True)),
    "numba": numba_event,
    "torch": lambda: recorded(torch.Event()),
}


@pytest.mark.parametrize("name", STREAMS)
def test_the_host_waits_for_a_stream(name, clock):
    number, synchronize = STREAMS[name]()
    clock.launched(OneLaunch(3.0), number)
    assert clock.now() == 0
    synchronize()
    assert clock.now() == 3


@pytest.mark.parametrize("name", EVENTS)
def test_the_host_waits_for_an_event(name, clock):
    clock.launched(OneLaunch(3.0))
    synchronize = EVENTS[name]()
    clock.launched(OneLaunch(4.0))
    synchronize()
    assert clock.now() == 3


def test_a_stream_waits_for_an_event_of_another(clock):
    first, second, event, end = DeviceStream(), DeviceStream(), DeviceEvent(), DeviceEvent()
    clock.launched(OneLaunch(3.0), first.number)
    event.mark_end(first.number)
    second.wait_event(DeviceEvent())  # which was never recorded
    second.wait_event(event)
    end.mark_end(second.number)
    assert clock.seconds(event.mark, end.mark) == 0


def test_times_are_read_from_events_that_have_them(clock):
    begin, end, untimed = DeviceEvent(), DeviceEvent(), DeviceEvent(is_timed=False)
    with pytest.raises(RecordingError, match=r"^f: an event was not recorded, or was created without timing$"):
        milliseconds_between(begin, end, "f")
    begin.mark_end()
    clock.launched(OneLaunch(2.0))
    end.mark_end()
    untimed.mark_end()
    assert milliseconds_between(begin, end, "f") == 2000
    with pytest.raises(RecordingError, match="created without timing"):
        milliseconds_between(begin, untimed, "f")


def test_an_event_of_no_recording_has_no_time_in_a_later_one(monkeypatch):
    begin = DeviceEvent()
    begin.mark_end()
    with pytest.raises(RecordingError, match="needs a machine"):
        milliseconds_between(begin, begin, "f")
    monkeypatch.setattr(current, "_recording", SimpleNamespace(clock=Clock(lambda trace, *_: trace.seconds)))
    with pytest.raises(RecordingError, match="before this recording started"):
        milliseconds_between(begin, begin, "f")


@pytest.mark.parametrize(
    ("stream", "is_other"),
    [
        (lambda: DeviceStream(), True),
        (lambda: DeviceStream(0), False),
        (lambda: cupy.Stream(null=True), False),
        (lambda: CoreStream(7), False),  # numba-cuda makes one of its stream at each launch
        (torch.Stream, True),
        (torch.Stream.default, False),
    ],
)
def test_a_stream_besides_the_default_one_is_known_as_long_as_it_lives(stream, is_other):
    gc.collect()
    assert not other_streams()
    found = stream()
    assert other_streams() == is_other
    del found
    gc.collect()
    assert not other_streams()
