"""What CuPy's pools and `memoize` say and forget, as the manual has it."""

import pytest

from simtmm.scripts import cupy
from simtmm.scripts.cupy.memory import MemoryPool


def test_the_limit_of_a_pool_is_bytes_or_a_part_of_the_devices_memory():
    pool, whole = MemoryPool(), cupy.cuda.Device(0).mem_info[1]
    limits = [pool.get_limit()]
    for given in ({"size": 1024}, {"fraction": 0.25}, {"fraction": 1}, {"size": 0}, {"size": 7}, {}):
        pool.set_limit(**given)
        limits.append(pool.get_limit())
    assert limits == [0, 1024, whole // 4, whole, 0, 7, 0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": 1, "fraction": 0.5}, "at one time"),
        ({"fraction": 1.5}, "1.5"),
        ({"fraction": -0.5}, "-0.5"),
        ({"size": -1}, "-1"),
    ],
)
def test_a_limit_that_is_none_is_refused_and_the_one_before_stays(given, said):
    pool = MemoryPool()
    pool.set_limit(9)
    with pytest.raises(ValueError, match=said):
        pool.set_limit(**given)
    assert pool.get_limit() == 9


def test_results_are_kept_until_they_are_cleared():
    calls = []

    @cupy.memoize(for_each_device=True)
    def double(value):
        calls.append(value)
        return 2 * value

    assert [double(2), double(2), double(3)] == [4, 4, 6]
    assert calls == [2, 3]
    cupy.clear_memo()
    assert double(2) == 4
    assert calls == [2, 3, 2]
