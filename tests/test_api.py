"""The names that others build on."""

import inspect
import subprocess
import sys

import pytest

import simtmm


@pytest.mark.parametrize("name", simtmm.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert inspect.getdoc(getattr(simtmm, name))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = simtmm.simulat


@pytest.mark.parametrize("first", ["pass", "import simtmm.recorder.compiler", "import simtmm.record"])
def test_record_can_be_called_whatever_was_imported_before(first):
    script = f"{first}\nimport simtmm\nfrom simtmm import record\nassert callable(simtmm.record) and callable(record)"
    check = "\ntry:\n    simtmm.record('nonsense')\nexcept simtmm.SimtmmError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", script + check], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("kernel 'nonsense': unknown")


def test_importing_simtmm_loads_no_heavy_library():
    script = "import sys, simtmm; print([m for m in ('numpy', 'numba', 'simpy', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
