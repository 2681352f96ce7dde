"""For all tests: where compiled code is kept, and what is told of a test as soon as it fails."""

import os

import pytest

from simtmm import compiled, count, load_machine, load_trace, lower, simulate
from simtmm.files import cache_folder
from tests import examples

# Tests that have a cache of their own are not about compiled code, which takes long to make anew.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "tests"))

# That something is compiled is told where that takes long, as a look into the cache does on a busy machine.
compiled.PATIENCE = 3600.0

examples.load_daily()


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        return
    config.pluginmanager.register(FailuresAtOnce(config))
    if config.getoption("numprocesses", None):
        compile_once()


def compile_once():
    """Compile the engine and the lowering, or load them, before workers come that would each do so."""
    machine, trace = load_machine("gtx480"), load_trace("list-ranking-wyllie")
    simulate(machine, lower(trace, machine), "fast")
    count(trace, machine)


class FailuresAtOnce:
    """Name a test when it fails, which pytest without -v does at the end."""

    def __init__(self, config):
        self._config = config

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal and self._config.get_verbosity() <= 0:
            word = "FAILED" if report.when == "call" else "ERROR"
            terminal.write(f"\n{word} {report.nodeid}\n", flush=True, red=True)
