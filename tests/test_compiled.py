"""Compiled code: what is kept of it follows the sources, and lies in the user's own cache."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from simtmm.cache import compiled
from simtmm.files import PACKAGE
from tests.trace.importers.build import line, load, traceg

CALL = "from simtmm.probe import twice\nprint(twice(21))\n"
PROBE = """from simtmm.native import Loop
from simtmm.probe_helper import FACTOR, scaled


def _twice(x):
    return scaled(x) * FACTOR


twice = Loop(_twice)
"""
HELPER = "FACTOR = {}\n\n\ndef scaled(x):\n    return x * {}\n"


@pytest.fixture
def package(tmp_path):
    """A copy of the package with a compiled function of its own; called, it gives what its output says."""
    shutil.copytree(PACKAGE, tmp_path / "simtmm", ignore=shutil.ignore_patterns("__pycache__", "_data"))
    (tmp_path / "simtmm" / "probe.py").write_text(PROBE)
    # Python's own caches go by size and second, and a call may take less than one.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SIMTMM_CACHE": str(tmp_path / "cache"),
                   "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    del environment["SIMTMM_COMPILED"]

    def call(factor=2, scale=1):
        (tmp_path / "simtmm" / "probe_helper.py").write_text(HELPER.format(factor, scale))
        done = subprocess.run(
            [sys.executable, "-c", CALL], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        )
        return int(done.stdout)

    return call


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache" / "compiled").glob("simtmm.probe-*"))


def test_a_helper_or_a_constant_that_changes_in_another_module_is_seen(package, tmp_path):
    assert package() == 42
    assert len(kept(tmp_path)) == 1
    assert package() == 42
    assert len(kept(tmp_path)) == 1
    assert package(scale=3) == 126
    assert package(factor=5) == 105
    assert len(kept(tmp_path)) == 3


def test_what_older_sources_left_behind_is_removed(package, tmp_path):
    for factor in range(2, 2 + compiled.KEPT + 1):
        assert package(factor=factor) == 21 * factor
    assert len(kept(tmp_path)) == compiled.KEPT


def test_nothing_is_loaded_from_a_cache_that_others_may_write_to(package, tmp_path):
    assert package() == 42
    (tmp_path / "cache").chmod(0o777)
    for path in (tmp_path / "cache").rglob("*.o"):
        path.write_bytes(b"planted")
    assert package() == 42


def test_the_sources_of_a_module_are_those_that_it_imports_however_far_away():
    found = {}
    compiled._collect(compiled._file_of("simtmm.trace.importers.accelsim.lines"), found)
    names = {path.relative_to(PACKAGE).as_posix() for path in found}
    assert {
        "trace/importers/words.py",
        "trace/importers/warps.py",
        "trace/importers/opcodes.py",
        "trace/schema.py",
    } < names
    assert "report/run.py" not in names


def test_the_sources_of_the_fast_engine_are_all_its_rules():
    """An edit of any of them has the engine compiled anew, whichever module it is in."""
    found = {}
    compiled._collect(compiled._file_of("simtmm.engine.fast.steps.loop"), found)
    rules = {path for path in (PACKAGE / "engine" / "fast").rglob("*.py") if "inlined" in path.read_text("utf-8")}
    assert len(rules) >= 20
    assert rules | {PACKAGE / "engine" / "fast" / "layout.py"} <= set(found)
    assert set((PACKAGE / "native").glob("*.py")) <= set(found)  # what compiles them, too


def test_an_edit_of_a_helper_far_away_changes_the_hash(monkeypatch, tmp_path):
    before = compiled.sources_of("simtmm.engine.fast.steps.loop")
    shutil.copytree(PACKAGE, tmp_path / "simtmm", ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    monkeypatch.setattr(compiled, "PACKAGE", tmp_path / "simtmm")
    compiled._file_of.cache_clear()
    try:
        assert compiled.sources_of("simtmm.engine.fast.steps.loop") == before
        cache = tmp_path / "simtmm" / "engine" / "fast" / "memory" / "cache.py"
        cache.write_text(cache.read_text("utf-8").replace("range(ways)", "range(ways - 1)"), encoding="utf-8")
        assert compiled.sources_of("simtmm.engine.fast.steps.loop") != before
    finally:
        compiled._file_of.cache_clear()


def test_another_module_has_another_hash():
    assert compiled.sources_of("simtmm.trace.races") != compiled.sources_of("simtmm.engine.fast.steps.loop")


def test_the_package_does_without_numba_but_for_scripts_of_its_users():
    ours = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "scripts" not in path.parents]
    assert len(ours) > 700
    assert not [path.name for path in ours if re.search(r"^\s*(?:import|from) numba\b", path.read_text("utf-8"), re.M)]


def digests(tmp_path, **environment):
    """What an import and the workload of it are known by, in a process with these variables."""
    (tmp_path / "k.traceg").write_text(
        traceg([[load(0x7F0000000000, "R4"), line("FADD", pc=16, of=["R4"]), line("EXIT", pc=32)]])
    )
    (tmp_path / "digest.py").write_text(
        "import simtmm\n"
        "trace = simtmm.import_trace('k.traceg')\n"
        "print(trace.info.digest, simtmm.lower(trace, simtmm.load_machine('gtx280')).digest())\n"
    )
    return subprocess.run(
        [sys.executable, "-W", "error", "digest.py"],
        cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_indices_that_are_checked_change_nothing_but_time(tmp_path):
    checked = digests(tmp_path, SIMTMM_CHECK_INDICES="1", SIMTMM_COMPILED=str(tmp_path / "compiled"))
    assert checked == digests(tmp_path)
    assert checked.strip()
    kept = [path.name for path in (tmp_path / "compiled").rglob("*.o")]
    assert len(kept) > 3
    assert all(name.startswith("checked-") for name in kept)


def test_as_python_a_loop_does_the_same(tmp_path):
    call = "Loop.__call__ = lambda self, *arguments: as_python(self.function)(*arguments) or 0"
    (tmp_path / "sitecustomize.py").write_text(f"from simtmm.native import Loop, as_python\n{call}\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", ""), str(PACKAGE.parent)])
    assert digests(tmp_path, PYTHONPATH=path) == digests(tmp_path)
