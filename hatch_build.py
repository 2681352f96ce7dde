"""Compile the loops that most commands need while a wheel is built, so that nobody waits for them at the first run.

They are compiled for common processors of the system that the wheel is built on, and lie in it as data; elsewhere they
are not looked at. With SIMTMM_OBJECTS=0 a wheel has none. An editable install never has: its sources change.
"""

import importlib
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # of the processes that compile
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parent
NEEDED = ["llvmlite>=0.45", "numpy>=1.26", "pydantic>=2.7"]  # by the modules that are compiled
# Packages whose own modules are imported without what their __init__ brings, as readers of Parquet
BARE = {"simtmm"} | {
    f"simtmm.{name}" for name in ("cuda", "engine", "engine.fast", "recorder", "recorder.compiled", "trace")
}


def is_wanted() -> bool:
    """Whether a wheel that is built here holds object code."""
    return os.environ.get("SIMTMM_OBJECTS") != "0" and sys.platform == "linux" and platform.machine() == "x86_64"


class CustomBuildHook(BuildHookInterface):
    """What hatchling calls before it writes a wheel."""

    def dependencies(self) -> list[str]:
        """What has to be there to compile."""
        return NEEDED if is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and have what comes of it put into the wheel; a wheel without it is whole, too."""
        if version == "editable" or not is_wanted():
            return
        self._made = tempfile.TemporaryDirectory()
        shares = min(2, os.cpu_count() or 1)
        command = [sys.executable, __file__, self._made.name]
        started = [subprocess.Popen([*command, str(share), str(shares)]) for share in range(shares)]
        statuses = [process.wait() for process in started]
        if any(statuses):
            self.app.display_warning("without object code: simtmm will compile it at its first run")
        else:
            build_data["force_include"][self._made.name] = "simtmm/_data/objects"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was put into the wheel."""
        if hasattr(self, "_made"):
            self._made.cleanup()


class Bare:
    """Finds the packages of BARE, as packages that hold nothing but modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What an import is to load; None for all else."""
        if name not in BARE:
            return None
        found = importlib.util.spec_from_loader(name, None, is_package=True)
        found.submodule_search_locations = [str(ROOT.joinpath(*name.split(".")))]
        return found


def compile_share(folder: Path, share: int, shares: int) -> None:
    """Compile one of so many shares of the list, the longest loops dealt out one by one."""
    sys.path.insert(0, str(ROOT))
    sys.meta_path.insert(0, Bare())
    from simtmm.cache.compiled import sources_of
    from simtmm.native.loop import Loop
    from simtmm.native.machine_code import QUICK, object_code
    from simtmm.native.program import assembly
    from simtmm.native.shipped import PROCESSOR, label_of, listed, object_name

    texts = []
    for loop in listed():
        function = getattr(importlib.import_module(loop.module), loop.function)
        constants = [known for known in loop.parameters if isinstance(known, int)]
        name = object_name(label_of(loop.function, constants), loop.parameters)
        function = function.function if isinstance(function, Loop) else function
        texts.append((assembly(function, loop.parameters), f"{loop.module}-{sources_of(loop.module)}", name))
    texts.sort(key=lambda each: len(each[0]), reverse=True)
    for text, module, name in texts[share::shares]:
        path = folder / module / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(object_code(text, QUICK, PROCESSOR))


if __name__ == "__main__":
    compile_share(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
