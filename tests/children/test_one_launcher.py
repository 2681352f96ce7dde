"""Processes are started in simtmm/children, and nowhere else."""

import ast
from pathlib import Path

import pytest

import simtmm

PACKAGE = Path(simtmm.__file__).parent
LAUNCHER = PACKAGE / "children"
MODULES = {"subprocess", "pty", "_posixsubprocess", "popen2", "concurrent.futures.process"}
HARMLESS = {
    "concurrent.futures.process.BrokenProcessPool",
    "multiprocessing.connection",
    "multiprocessing.parent_process",
}
OF_OS = ("fork", "exec", "spawn", "posix_spawn", "popen", "system", "startfile")
NAMES = {
    "ProcessPoolExecutor", "LocalCluster", "LocalProcess", "create_subprocess_exec", "create_subprocess_shell", "Popen",
    "get_context", "set_start_method", "Pool", "Process",
}  # fmt: skip


def starts(tree):
    """What in a module may start a process, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for each in names:
                    if each.name in MODULES or each.name.split(".")[0] in MODULES:
                        yield node.lineno, each.name
            case ast.ImportFrom(module=str(module), names=names):
                for each in names:
                    whole = f"{module}.{each.name}"
                    if whole in HARMLESS:
                        continue
                    of_os = module == "os" and each.name.startswith(OF_OS)
                    others = module.split(".")[0] in (*MODULES, "multiprocessing") or module in MODULES
                    if others or whole in MODULES or of_os or each.name in NAMES:
                        yield node.lineno, whole
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name.startswith(OF_OS):
                yield node.lineno, f"os.{name}"
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in NAMES:
                yield node.lineno, name


def test_no_other_module_starts_a_process():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {what}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(LAUNCHER)
        for line, what in starts(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_the_launcher_itself_is_found_by_what_looks_for_others():
    found = {path.name for path in LAUNCHER.glob("*.py") if list(starts(ast.parse(path.read_text(encoding="utf-8"))))}
    assert found == {"family.py", "forked.py", "start.py", "workers.py"}


@pytest.mark.parametrize(
    "line",
    [
        "import subprocess",
        "from subprocess import run",
        "import os; os.system('ls')",
        "import os; os.posix_spawnp('ls', [], {})",
        "from os import execv",
        "import os; pid = os.fork()",
        "import multiprocessing; multiprocessing.Process(target=print).start()",
        "from multiprocessing import Pool",
        "import concurrent.futures as f; f.ProcessPoolExecutor()",
        "from concurrent.futures import ProcessPoolExecutor",
        "from concurrent.futures.process import ProcessPoolExecutor",
        "dask.LocalCluster(n_workers=1)",
        "import asyncio; asyncio.create_subprocess_exec('ls')",
        "import pty; pty.spawn('ls')",
    ],
)
def test_each_way_to_start_one_is_known(line):
    assert list(starts(ast.parse(line)))


@pytest.mark.parametrize("line", ["import os; os.getpid()", "from multiprocessing import connection", "system = 1"])
def test_what_starts_none_is_left_alone(line):
    assert not list(starts(ast.parse(line)))
