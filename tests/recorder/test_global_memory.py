"""Arrays in memory that is shared with a kernel's process, and as they were before."""

import numpy as np

from simtmm.recorder.global_memory import GlobalMemory


def test_what_memory_was_filled_from_is_kept_and_nobody_elses():
    numbers = np.arange(8)
    fixed = np.arange(4)
    fixed.setflags(write=False)
    given = {"own": np.arange(4), "first": numbers[:6], "last": numbers[2:], "swapped": fixed.astype(">i4"), "f": fixed}
    memory = GlobalMemory(given, shared=True)
    for array in memory.arrays.values():
        array += 1
    assert memory.before is not None
    for name, array in memory.before.items():
        assert np.array_equal(array, given[name])
        assert np.array_equal(memory.arrays[name], given[name] + 1)
        array[...] = 7  # by a check
    assert memory.before["own"] is given["own"]
    assert numbers.tolist() == list(range(8))
    assert fixed.tolist() == list(range(4))
