"""For all tests: where compiled code is kept, and what is told of a test as soon as it fails."""

import contextlib
import gc
import os
import pickle
import signal
from pathlib import Path

import pytest

from simtmm import count, load_machine, load_trace, lower, simulate
from simtmm.cache import compiled
from simtmm.files import cache_folder
from simtmm.report import command_time, progress
from simtmm.report import text as report_text
from simtmm.validation import cases
from tests import examples
from tests.report.aligned import AlignedTable

# Tests that have a cache of their own are not about compiled code, which takes long to make anew.
os.environ.setdefault("SIMTMM_COMPILED", str(cache_folder() / "tests"))

# What is compiled, and how far work is, is told where that takes long, as a look into the cache does on a busy machine.
compiled.PATIENCE = 3600.0
progress.PATIENCE = command_time.WORTH = 3600.0

report_text.Table = AlignedTable  # type: ignore[misc]  # all tables that tests print are looked at

examples.load_daily()

# A shell's background jobs ignore Ctrl-C, and under `nohup` a hangup, as does what they start: tests that send such a
# signal would wait for it.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


TESTS = Path(__file__).parent
# The fast lane goes without these: they call a C++ compiler or processes of their own, draw many machines, or simulate
# and sweep at length.
SLOW = {
    "accuracy", "analysis/bounds", "analysis/compare", "analysis/kept", "analysis/predict", "analysis/advice",
    "analysis/micro", "analysis/tuning", "analysis/units", "analysis/why_slow", "api/micro",
    "api/opening", "api/studies", "benchmarks",
    "calibration",
    "children/poisoned_folder", "children/signals", "cli", "compiled",
    "cuda/cases", "cuda/compilers", "cuda/execution/cases", "cuda/execution/drawn", "cuda/execution/mbarrier",
    "cuda/execution/clusters", "cuda/execution/mma", "cuda/execution/tensors", "cuda/execution/wgmma",
    "cuda/execution/wmma", "cuda/measured/hopper", "cuda/interpreter/formats", "cuda/interpreter/launches",
    "cuda/interpreter/libraries", "cuda/livelock",
    "cuda/interpreter/matrices", "cuda/math_functions", "cuda/sass", "cuda/whole", "device", "engine/bounds",
    "engine/choice", "engine/custom_scheduler",
    "engine/equal", "engine/jump", "engine/loops", "engine/streams", "engine/vectors", "explorer/browser", "fuzz",
    "house", "kernels", "measurement/measure", "measurement/micro", "model/added_model", "model/algorithms/regimes",
    "model/algorithms/tables", "parallel", "plausible", "profiles", "programs", "readme", "recorder", "report/diff",
    "report/explain_page", "report/page", "report/pictures", "rules/page", "rules/policies", "rules/rules",
    "rules/wrong", "scripts",
    "study/closed_forms", "study/damage", "study/findings", "study/sweep", "testing", "tmm_page",
    "trace/exporters/accelsim", "trace/importers/damaged",
    "trace/importers/mangled", "trace/importers/memtrace", "trace/long_blocks", "trace/places", "trace/runs",
    "trace/runs_file", "validation",
}  # fmt: skip


@pytest.fixture(scope="session")
def sampled(tmp_path_factory):
    """The tables of a reproduction's sample by its name, computed once in a run of the tests, by whichever worker."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "samples"
    folder.mkdir(exist_ok=True)

    def tables(name):
        path = folder / name
        if not path.exists():
            result = folder / f"{name}-{os.getpid()}"
            result.write_bytes(pickle.dumps(cases.sample(name)))
            result.replace(path)
        return pickle.loads(path.read_bytes())

    return tables


def pytest_addoption(parser):
    parser.addoption("--fast", action="store_true", help="leave out what takes long")


def pytest_ignore_collect(collection_path, config):
    name = collection_path.relative_to(TESTS).with_suffix("").as_posix().replace("test_", "")
    return True if config.getoption("fast") and name in SLOW else None


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        return
    config.pluginmanager.register(FailuresAtOnce(config))
    if config.getoption("numprocesses", None):
        compile_once()


def pytest_collection_finish():
    gc.freeze()  # tests and modules stay until the end: nothing is found by looking through them


def compile_once():
    """Compile the engine and the lowering, or load them, before workers come that would each do so."""
    with contextlib.suppress(Exception):  # what is wrong is for the tests to tell
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
