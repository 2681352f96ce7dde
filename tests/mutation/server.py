"""Runs of pytest in forked processes: what all import, as NumPy, is imported once, and nothing of simtmm.

Started as `python -m tests.mutation.server` in a copy of the tree. It reads a line of JSON for each run: arguments of
pytest, variables of the environment, seconds of the processor and of the clock that it may take, and a file for what it
prints; and answers with a line: the exit status, None where it took too long, and the seconds of the processor.
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
from typing import Any

ALL_IMPORT = (
    "numpy", "llvmlite.binding", "pydantic", "pyarrow", "pyarrow.parquet", "pytest", "rich.console",
    "rich.table", "simpy", "typer", "scipy.optimize", "networkx", "concurrent.futures", "sqlite3", "sympy",
)  # fmt: skip
PAUSE = 0.02  # seconds between looks at a process


def main() -> None:
    """Do what each line asks for."""
    sys.path[0] = os.getcwd()
    for name in ALL_IMPORT:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert not any(name.partition(".")[0] == "simtmm" for name in sys.modules)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


def run(
    arguments: list[str], environment: dict[str, str], processor: float, clock: float, output: str
) -> dict[str, Any]:
    """Run pytest."""
    child = os.fork()
    if not child:
        _become(arguments, environment, processor, output)
    status, began = None, time.monotonic()
    while status is None and time.monotonic() - began < clock:
        ended, found, used = os.wait4(child, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(found)
        else:
            time.sleep(PAUSE)
    if status is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _, _, used = os.wait4(child, 0)
    with contextlib.suppress(ProcessLookupError):  # what a test has left running
        os.killpg(child, signal.SIGKILL)
    if status is not None and status < 0:  # by a signal: it took too long, or died
        status = None if -status in (signal.SIGXCPU, signal.SIGKILL) else 1
    return {"status": status, "seconds": used.ru_utime + used.ru_stime}


def _become(arguments: list[str], environment: dict[str, str], processor: float, output: str) -> None:
    """Be that run of pytest, and end."""
    os.setpgid(0, 0)
    status = 3
    try:
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(file, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(environment)
        sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
        resource.setrlimit(resource.RLIMIT_CPU, (int(processor) + 1, int(processor) + 5))
        import pytest

        status = int(pytest.main(arguments))
        sys.stdout.flush()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
