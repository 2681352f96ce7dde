"""Addresses of local variables, which PTX and machine code place in their own ways: no value of theirs is a fault."""

import numpy as np
import pytest

from simtmm import own_faults
from simtmm.cuda.disagreement.differences import _are_local_addresses
from simtmm.cuda.execution.layout import LOCAL_WINDOW, SHARED_WINDOW
from simtmm.cuda.sass import kernel, stack

KERNEL = """
__device__ __noinline__ int last_of(int* values, int n) { values[n & 3] += n; return values[(n + 1) & 3]; }
__global__ void k(const int* x, unsigned long long* kept, int* low, int* y)
{
    int i = threadIdx.x, values[4] = {i, i + 1, i + 2, i + 3};
    kept[i] = (unsigned long long)values;
    low[i] = FACTOR * (int)((unsigned long long)values % 1000);
    y[i] = last_of(values, x[i]);
}
"""
ARGUMENTS = ("x=arange:int32:32", "kept=zeros:uint64:32", "low=zeros:int32:32", "y=zeros:int32:32")


@pytest.fixture
def elsewhere(monkeypatch):
    """Have the stack of machine code begin 32 bytes higher than that of PTX."""
    monkeypatch.setattr(kernel, "stack_of", lambda *arguments: stack.stack_of(*arguments) + 32)
    own_faults.noted()


def test_pointers_to_local_variables_differ_without_a_word(ran, elsewhere):
    info = ran(KERNEL.replace("FACTOR", "0"), 1, 32, ARGUMENTS).info
    (schedule,) = info.schedules
    assert (schedule.instructions, schedule.fault, info.faults) == ("machine code", "", ())
    assert own_faults.noted() == ()


def test_a_number_made_of_such_an_address_is_no_fault(ran, elsewhere):
    info = ran(KERNEL.replace("FACTOR", "1"), 1, 32, ARGUMENTS).info
    (schedule,) = info.schedules
    assert (schedule.instructions, schedule.fault) == ("ptx", "")
    assert "low, element 0: " in schedule.why
    assert schedule.why.endswith("which depends on where its local variables lie")
    assert own_faults.noted() == ()


def test_only_two_addresses_of_local_memory_are_left_out():
    local, shared = LOCAL_WINDOW + 8, SHARED_WINDOW + 8
    one = np.array([local, local, 8, shared, local], np.uint64).view(np.uint8)
    other = np.array([local + 40, 8, local, shared + 8, LOCAL_WINDOW + (1 << 32)], np.uint64).view(np.uint8)
    assert _are_local_addresses(one, other).tolist() == [True, False, False, False, False]
    assert _are_local_addresses(one[:12], other[:12]).tolist() == [True, False]
