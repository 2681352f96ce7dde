"""Where the ticks of an access go, hook by hook, by hand: they add up to its finish."""

from simtmm.engine.reference.memory.path_ticks import BookedWay
from simtmm.stalls import Reason


def test_chunks_that_follow_one_another_add_up():
    way = BookedWay()
    way.begins()
    way.goes(Reason.L1_LATENCY, 30, more=5)
    way.spends(Reason.PORT_QUEUE, 2)
    way.follows()
    way.goes(Reason.MEMORY_LATENCY, 400)
    way.spends(Reason.MEMORY_QUEUE, 7)
    way.spends(Reason.MEMORY_QUEUE, 1)
    way.follows()
    assert way.access == {
        Reason.L1_LATENCY: 30, Reason.LINE_IN_FLIGHT: 5, Reason.PORT_QUEUE: 2, Reason.MEMORY_LATENCY: 400,
        Reason.MEMORY_QUEUE: 8,
    }  # fmt: skip


def test_of_chunks_at_once_the_last_one_counts_with_what_it_waited_for_its_port():
    way = BookedWay()
    way.begins()
    way.goes(Reason.MEMORY_LATENCY, 400, Reason.L2_LATENCY, 90)
    way.is_last(3)
    way.goes(Reason.MEMORY_LATENCY, 410)
    way.spends(Reason.PORT_QUEUE, 4)
    way.is_last(6)
    assert way.access == {Reason.MEMORY_LATENCY: 410, Reason.LINE_IN_FLIGHT: 0, Reason.PORT_QUEUE: 10}
    way.begins()
    assert way.access == {}


def test_an_access_that_needs_no_chunk_waits_for_its_port_alone():
    way = BookedWay()
    way.begins()
    way.spends(Reason.PORT_QUEUE, 2)
    way.is_last(3)
    assert way.access == {Reason.PORT_QUEUE: 5}
