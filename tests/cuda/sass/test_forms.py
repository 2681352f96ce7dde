"""Forms of PTX that people write, as machine code: it gives what they mean, or is recorded as PTX."""

import struct

import numpy as np
import pytest

import simtmm
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.errors import SassError
from tests.cuda.execution.forms import CALLS, CLUSTERS, CONSTANTS, THREADS, VARIABLES, VECTORS
from tests.cuda.sass.lifted import machine_function

_SOME = ("in an address", "an element by a register", "addresses of elements", "global", "constant")
LIFTED = [*VECTORS, *CLUSTERS, *(form for form in (*CONSTANTS, *VARIABLES) if form.name in _SOME)]
NOT_LIFTED = [form for form in (*VARIABLES, *CALLS) if form.name in ("of one name in two scopes", "several results")]


@pytest.mark.parametrize("form", LIFTED, ids=lambda form: form.name)
def test_machine_code_of_a_form_gives_what_it_means(form):
    function, device = machine_function(form.text, 90), Device()
    device.symbols(function.linked)
    out = np.zeros(THREADS, np.uint32)
    parameters = struct.pack("<Q", device.memory.place("out", out))
    device.launch(function, DeviceLaunch((1, 1, 1), (THREADS, 1, 1), parameters))
    assert out.tolist() == [form.expected(thread) for thread in range(THREADS)]


@pytest.mark.parametrize("form", NOT_LIFTED, ids=lambda form: form.name)
def test_what_is_not_lifted_is_recorded_as_ptx(form, tmp_path):
    with pytest.raises(SassError):
        machine_function(form.text, 90).program  # noqa: B018 - lifted when it is asked for
    (tmp_path / "k.ptx").write_text(form.text, encoding="utf-8")
    out = np.zeros(THREADS, np.uint32)
    with simtmm.recording("h100-sxm"):
        simtmm.RawModule(path=str(tmp_path / "k.ptx")).get_function("k")((1,), (THREADS,), (out,))
    assert out.tolist() == [form.expected(thread) for thread in range(THREADS)]
