"""What a function makes of items, one after another, on all cores."""

import threading

import pytest

from simtmm.parallel.threads import in_order


def test_outcomes_come_in_the_order_of_items_whoever_is_done_first():
    begun = threading.Barrier(2, timeout=60)  # both of a pair go on at once, or neither ends

    def double(number):
        begun.wait()
        return 2 * number

    assert list(in_order(double, range(6), 2)) == [0, 2, 4, 6, 8, 10]


def test_one_at_a_time_needs_no_thread():
    where = []
    list(in_order(lambda number: where.append(threading.current_thread()), range(3), 1))
    assert set(where) == {threading.main_thread()}


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_no_more_are_begun_than_go_on_at_once(at_once):
    begun = []
    outcomes = in_order(lambda number: begun.append(number) or number, range(100), at_once)
    assert next(outcomes) == 0
    outcomes.close()
    assert len(begun) <= at_once


def test_what_is_raised_comes_where_its_turn_is():
    def refuse(number):
        if number == 2:
            raise ValueError("two")
        return number

    outcomes = in_order(refuse, range(5), 2)
    assert [next(outcomes), next(outcomes)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(outcomes)
