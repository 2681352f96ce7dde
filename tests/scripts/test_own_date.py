"""`datetime.now()` of a script: the time that is read, to the microsecond that has begun, as of Python's own class."""

import datetime

import pytest

from simtmm.scripts.own_date import class_reading

SECOND, MICROSECOND = 10**9, 1000
BEGUN = int(datetime.datetime(2031, 3, 4, 5, 6, 7, tzinfo=datetime.UTC).timestamp())


@pytest.mark.parametrize(
    ("nanoseconds", "microsecond"),
    [(0, 0), (1, 0), (999, 0), (1000, 1), (1001, 1), (SECOND - 1, 999_999), (SECOND - MICROSECOND, 999_999)],
)
def test_the_time_is_the_one_that_is_read_to_the_microsecond_that_has_begun(nanoseconds, microsecond):
    own = class_reading(lambda: BEGUN * SECOND + nanoseconds)
    expected = datetime.datetime(2031, 3, 4, 5, 6, 7, microsecond)
    assert own.now(datetime.UTC) == expected.replace(tzinfo=datetime.UTC)
    assert own.utcnow() == expected
    local = datetime.datetime.fromtimestamp(BEGUN).replace(microsecond=microsecond)
    assert own.now() == own.today() == local
    assert own.now().tzinfo is None


def test_its_instances_are_python_s_and_it_looks_like_python_s():
    own = class_reading(lambda: 0)
    assert type(own(2031, 3, 4)) is datetime.datetime
    assert isinstance(datetime.datetime(2031, 3, 4), own)
    assert not isinstance(datetime.date(2031, 3, 4), own)
    assert issubclass(datetime.datetime, own)
    assert not issubclass(datetime.date, own)
    assert (own.__name__, own.__qualname__, own.__module__) == ("datetime", "datetime", "datetime")
    assert own.__doc__ == datetime.datetime.__doc__


def test_a_class_of_the_script_s_own_stays_its_own():
    class Later(class_reading(lambda: 3 * SECOND)):
        pass

    assert type(Later(2031, 3, 4)) is Later
    assert not isinstance(datetime.datetime(2031, 3, 4), Later)
    assert Later.now(datetime.UTC).second == 3
