"""Nobody is accused who can go on: right kernels end right, though somebody looks after each trip of their loops."""

import pytest
from hypothesis import settings

from tests.cuda.livelock import phases
from tests.examples import DAILY

COUNT = 40  # launches a day; the long profile has ten thousand
LONG = 10_000


def count():
    return COUNT if settings().max_examples == DAILY else LONG


def test_drawn_locks_tickets_look_backs_and_barriers_end_right():
    """A share of all that is drawn comes back to the same registers, while what is left to do stands in memory."""
    back = 0
    for number in range(count()):
        waiting = phases.drawn(f"right/{number}")
        with phases.looked_at_each_turn(always=number % 3 == 2) as seen:
            assert phases.run(waiting, phases.kernel(), record=number % 2 == 1) == phases.expected(waiting), waiting
        back += seen["back"]
    assert back >= count()


@pytest.mark.parametrize("kind", phases.KINDS)
@pytest.mark.parametrize("always", [False, True])
def test_each_kind_ends_right(kind, always):
    waiting = phases.Waiting(5, 64, (phases.Phase(kind, 30, 700, 3),))
    with phases.looked_at_each_turn(always):
        assert phases.run(waiting, phases.kernel()) == phases.expected(waiting)


def test_machine_code_ends_right():
    for kind in phases.KINDS:
        waiting = phases.Waiting(3, 33, (phases.Phase(kind, 0, 300, 2),))
        assert phases.run(waiting, phases.kernel(machine_code=True), record=True) == phases.expected(waiting)
