"""The names that others build on."""

import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simtmm
from simtmm.api.page import PAGE, page

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", simtmm.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert inspect.getdoc(getattr(simtmm, name))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        _ = simtmm.simulat


def test_no_module_has_the_name_of_an_export():
    modules = {module.name for module in pkgutil.iter_modules(simtmm.__path__)}
    assert modules.isdisjoint(set(simtmm.__all__))


def test_functions_are_functions_whatever_was_imported_before():
    functions = [name for name in simtmm.__all__ if inspect.isfunction(getattr(simtmm, name))]
    assert {"record", "run", "sweep", "compare", "calibrate", "measure", "kernels", "machines"} <= set(functions)
    script = f"""
import importlib, inspect, pkgutil, simtmm
for module in pkgutil.walk_packages(simtmm.__path__, "simtmm."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print([name for name in {functions} if not inspect.isfunction(getattr(simtmm, name))])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_recording_has_a_signature_that_can_be_read():
    parameters = inspect.signature(simtmm.record).parameters
    assert list(parameters)[:4] == ["source", "parameters", "on", "output"]
    assert parameters["on"].default == "cpu"


@pytest.mark.parametrize("name", [name for name in simtmm.__all__ if inspect.isfunction(getattr(simtmm, name))])
def test_every_argument_of_a_public_function_has_a_line(name):
    function = getattr(simtmm, name)
    for argument in inspect.signature(function).parameters:
        assert re.search(rf"^{argument}: ", inspect.getdoc(function), re.MULTILINE), argument


@pytest.mark.parametrize(
    ("module", "heavy"),
    [("simtmm", ("numpy", "numba", "simpy", "pyarrow")), ("simtmm.cli", ("numpy", "pyarrow", "asyncio", "webbrowser"))],
)
def test_importing_it_loads_no_heavy_library(module, heavy):
    script = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_page_of_the_interface_is_what_the_docstrings_say():
    """`python -m simtmm.api.page` writes it anew."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page()


def test_the_page_has_every_argument_of_every_function():
    text = page()
    for name in simtmm.__all__:
        value = getattr(simtmm, name)
        section = text.partition(f"### simtmm.{name}\n")[2].partition("\n### ")[0]
        arguments = inspect.signature(value).parameters if inspect.isfunction(value) else {}
        assert [each for each in arguments if f"- `{each}`: " not in section] == []
