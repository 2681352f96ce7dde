"""An address in words, where nothing says whose pointer it is of: by the window that it lies in, or is before."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.layout import LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW
from simtmm.cuda.places import ALIGNMENT, place

STATE = SimpleNamespace(shared_bytes=1024, local_bytes=64, parameter_bytes=24, memory=DeviceMemory())
DYNAMIC = " (its launch gives no dynamic shared memory: --shared, shared_mem= or a number in the launch's brackets)"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (SHARED_WINDOW, "byte 0 of shared memory, which has 1,024 bytes"),
        (SHARED_WINDOW + WINDOW - 1, f"byte {WINDOW - 1} of shared memory, which has 1,024 bytes"),
        (SHARED_WINDOW - 1, "byte -1 of shared memory"),
        (SHARED_WINDOW - WINDOW, f"byte -{WINDOW} of shared memory"),
        (LOCAL_WINDOW + 64, "byte 64 of local memory, which has 64 bytes"),
        (PARAMETER_WINDOW + 24, "byte 24 of the kernel's parameters, which has 24 bytes"),
        (1 << 63, "address 0x8000000000000000"),
        ((1 << 64) - 1, "address 0xffffffffffffffff"),
        (0, "the null pointer"),
        (12, "address 0xc, 12 bytes behind the null pointer"),
        (ALIGNMENT - 1, f"address {hex(ALIGNMENT - 1)}, {ALIGNMENT - 1} bytes behind the null pointer"),
    ],
)
def test_an_address_is_a_byte_of_the_window_that_it_is_in_or_right_before(address, words):
    assert place(SimpleNamespace(), STATE, ("", None), address, False) == words


def test_where_a_launch_has_no_shared_memory_it_says_how_to_have_some():
    none = SimpleNamespace(**{**vars(STATE), "shared_bytes": 0})
    words = f"byte 8 of shared memory, which has 0 bytes{DYNAMIC}"
    assert place(SimpleNamespace(), none, ("", None), SHARED_WINDOW + 8, False) == words


def placed():
    """Two arrays far from one another, and a variable between them: the function, the state, and where they lie."""
    memory = DeviceMemory()
    memory._end = 1 << 22
    first = memory.place("first", np.zeros(10, np.float32))
    held = memory.place("table", np.zeros(16, np.uint8))
    memory.place("$1", np.zeros(1 << 20, np.uint8))
    last = memory.place("last", np.zeros((3, 4), np.float64))
    function = SimpleNamespace(linked=SimpleNamespace(module=SimpleNamespace(variables={"table": None})))
    return function, SimpleNamespace(**{**vars(STATE), "memory": memory}), first, held, last


@pytest.mark.parametrize(
    ("of", "distance", "words"),
    [
        ("first", 0, "index 0 of first, which has 10 elements (float32)"),
        ("first", 39, "index 9 and 3 bytes of first, which has 10 elements (float32)"),
        ("first", 40, "index 10 of first, which has 10 elements (float32)"),
        ("first", -4, "index -1 of first, which has 10 elements (float32)"),
        ("first", -4096, "index -1024 of first, which has 10 elements (float32)"),
        ("first", -4097, "address {}, which is not in an array, 4,097 bytes before first"),
        ("held", 3, "byte 3 of table, which has 16 bytes"),
        ("last", 95, "index 11 and 7 bytes of last, which has 12 elements (float64)"),
        ("last", 96 + 4095, "index 523 and 7 bytes of last, which has 12 elements (float64)"),
        ("last", 96 + 4096, "address {}, which is not in an array, 4,096 bytes past the end of last"),
    ],
)
def test_an_address_near_an_array_is_an_element_and_one_far_from_all_is_so_many_bytes_off(of, distance, words):
    function, state, *bases = placed()
    address = dict(zip(("first", "held", "last"), bases, strict=True))[of] + distance
    assert place(function, state, ("", None), address, False) == words.format(hex(address))


@pytest.mark.parametrize("address", [ALIGNMENT, 1 << 20, 1 << 62, (1 << 63) - 1])
def test_where_nothing_is_allocated_an_address_is_of_nothing(address):
    function, *_ = placed()
    assert place(function, STATE, ("", None), address, False) == f"address {hex(address)}, which is not in an array"
