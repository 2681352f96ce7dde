"""A device's work and its host's over time: by hand."""

import pytest

from simtmm import load_machine
from simtmm.device.host import IN, OUT, Host, Move, host_of
from simtmm.device.timeline import MOST_QUERIES, Timeline
from simtmm.machine.values import Link

HOST = Host(
    calls={"launch": 2.0, "submit": 3.0, "synchronize": 1.0, "idle": 0.5, "record": 0.25, "query": 0.5, "copy": 1.0},
    copies={
        "pageable_in": ((0, 1.0), (100, 11.0)),
        "pageable_out": ((0, 1.0), (100, 21.0)),
        "pinned_in": ((0, 1.0), (100, 6.0)),
        "engine_in": ((0, 1.0), (100, 5.0), (200, 7.0)),
        "engine_out": ((0, 1.0), (100, 5.0)),
    },
    on_device=(4.0, 0.1),
    fills=(1.0, 0.5),
    touched=0.1,
    prefetched=0.01,
    returned=0.3,
    prefetched_back=0.02,
)


@pytest.fixture
def line():
    return Timeline(HOST)


def test_a_launch_begins_when_the_device_has_it_and_the_host_goes_on_after_its_call(line):
    line.launch(0, 10.0)
    assert (line.now, line.end(0)) == (2.0, 13.0)
    line.synchronize()
    assert line.now == 14.0
    line.synchronize()
    assert line.now == 14.5


def test_short_launches_behind_one_another_go_by_the_hosts_calls_and_long_ones_by_the_device(line):
    for _ in range(5):
        line.launch(0, 1.0)
    assert line.end(0) == 4 * 2.0 + 3.0 + 1.0
    longer = Timeline(HOST)
    for _ in range(5):
        longer.launch(0, 5.0)
    assert longer.end(0) == 3.0 + 5 * 5.0


def test_a_kernel_that_follows_in_a_graph_takes_no_call(line):
    line.launch(0, 1.0)
    line.launch(0, 1.0, is_called=False)
    assert (line.now, line.end(0)) == (2.0, 5.0)


def test_kernels_of_two_streams_run_one_after_another_and_copies_beside_them(line):
    line.launch(1, 10.0)
    line.launch(2, 10.0)
    assert line.end(2) == 23.0
    line.copy(3, IN, 100, is_pinned=True, is_awaited=False)
    assert line.end(3) == 4.0 + 3.0 + 5.0
    line.copy(4, IN, 100, is_pinned=True, is_awaited=False)
    assert line.end(4) == 12.0 + 5.0  # one engine a way
    line.copy(5, OUT, 100, is_pinned=True, is_awaited=False)
    assert line.end(5) == 6.0 + 3.0 + 5.0


def test_the_default_stream_waits_for_all_and_all_for_it(line):
    line.launch(1, 10.0)
    line.launch(0, 1.0)
    assert line.end(0) == 14.0
    line.copy(2, IN, 0, is_pinned=True, is_awaited=False)
    assert line.end(2) == 15.0


@pytest.mark.parametrize(("is_pinned", "seconds"), [(False, 11.0), (True, 6.0)])
def test_a_copy_that_is_waited_for_holds_the_host(line, is_pinned, seconds):
    line.launch(0, 10.0)
    line.copy(0, IN, 100, is_pinned=is_pinned, is_awaited=True)
    assert line.now == line.end(0) == 13.0 + seconds


def test_an_asynchronous_copy_of_pageable_memory_holds_it_as_well(line):
    line.copy(1, OUT, 50, is_pinned=False, is_awaited=False)
    assert line.now == 11.0


def test_copies_and_fills_within_the_device_run_as_kernels_do(line):
    line.copy(1, None, 100, is_pinned=False, is_awaited=True)
    assert (line.now, line.end(1)) == (1.0, 3.0 + 10.0)
    line.fill(2, 10)
    assert line.end(2) == 13.0 + 6.0
    line.copy(2, None, 1, is_pinned=False, is_awaited=True)
    assert line.end(2) == 19.0 + 4.0


def test_managed_memory_is_fetched_by_a_kernel_or_sent_before(line):
    line.fetch(1, 100, Move.FAULTS)
    line.launch(1, 1.0)
    assert line.end(1) == 3.0 + 10.0 + 1.0
    line.fetch(2, 100, Move.PREFETCH)
    assert line.end(2) == 2.0 + 3.0 + 1.0
    line.fetch(3, 100, Move.PREFETCH_BACK)  # another engine
    assert line.end(3) == 2.0 + 3.0 + 2.0
    line.fetch(1, 100, Move.ACROSS)
    assert line.end(1) == 14.0 + 5.0


def test_the_host_waits_for_managed_memory_that_it_takes_back(line):
    line.take_back(100)
    assert line.now == 30.0


def test_a_mark_is_where_its_stream_is_and_takes_a_call(line):
    assert line.reached(0) == 3.25
    line.launch(0, 10.0)
    assert line.reached(0) == 13.25
    line.wait(1, 20.0)
    assert line.end(1) == 20.0


def test_who_asks_again_and_again_is_told_in_the_end(line):
    assert line.has_come(0.0)
    asked = 1
    while not line.has_come(1e6):
        asked += 1
    assert asked == MOST_QUERIES + 1
    assert line.now == 1e6
    assert not line.has_come(line.now + 1.0)


def test_points_of_a_curve_are_joined_by_lines_and_the_last_one_goes_on():
    assert [HOST.engine(IN, size) for size in (0, 50, 100, 150, 400)] == [1.0, 3.0, 5.0, 6.0, 11.0]


@pytest.mark.parametrize(
    ("size", "pinned", "pageable"), [(1 << 20, 28.2e-6, 103e-6), (1 << 24, 319e-6, 1.85e-3), (65536, 10.2e-6, 30e-6)]
)
def test_an_h100s_copies_take_what_was_measured_on_one(size, pinned, pageable):
    host = host_of(load_machine("h100-sxm"))
    assert host.copy(IN, size, is_pinned=True) == pytest.approx(pinned)
    assert host.copy(IN, size, is_pinned=False) == pytest.approx(pageable)


def test_a_launch_and_what_waits_for_it_take_what_was_measured():
    """traces/measured/h100-sxm/probe.csv, section host: launch_plus_cudaDeviceSynchronize and pairs of events."""
    empty = 1.82e-6  # of one block of an empty kernel
    host = host_of(load_machine("h100-sxm"))
    line = Timeline(host)
    line.launch(0, empty)
    line.synchronize()
    assert line.now == pytest.approx(9.87e-6, rel=0.02)
    for launches, measured in ((1, 6.34e-6), (2, 11.39e-6)):
        line = Timeline(host)
        begin = line.reached(0)
        for _ in range(launches):
            line.launch(0, empty)
        assert line.reached(0) - begin == pytest.approx(measured, rel=0.1)


def test_every_link_of_a_machine_is_known_and_a_faster_one_is_faster():
    machine = load_machine("a100-80")
    assert machine.link == "pcie-4"
    links = Link.__args__
    seconds = {link: host_of(machine.replace({"link": link})).copy(IN, 1 << 26, is_pinned=True) for link in links}
    assert len(links) == 6
    assert sorted(seconds, key=seconds.get, reverse=True) == [
        "pcie-2", "pcie-3", "pcie-4", "pcie-5", "nvlink-c2c", "unified",
    ]  # fmt: skip
    assert host_of(machine.replace({"link": None})) == host_of(machine)
