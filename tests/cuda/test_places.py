"""An address in words, where nothing says whose pointer it is of: by the window that it lies in, or is before."""

from types import SimpleNamespace

import pytest

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.layout import LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW
from simtmm.cuda.places import place

STATE = SimpleNamespace(shared_bytes=1024, local_bytes=64, parameter_bytes=24, memory=DeviceMemory())
DYNAMIC = " (--shared gives a launch dynamic shared memory)"


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
    ],
)
def test_an_address_is_a_byte_of_the_window_that_it_is_in_or_right_before(address, words):
    assert place(SimpleNamespace(), STATE, ("", None), address, False) == words


def test_where_a_launch_has_no_shared_memory_it_says_how_to_have_some():
    none = SimpleNamespace(**{**vars(STATE), "shared_bytes": 0})
    words = f"byte 8 of shared memory, which has 0 bytes{DYNAMIC}"
    assert place(SimpleNamespace(), none, ("", None), SHARED_WINDOW + 8, False) == words
