"""The loops that a wheel holds: those that a newcomer's first commands call.

`python -m tests.native.shipped` writes simtmm/native/shipped.json anew.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "simtmm" / "native" / "shipped.json"
SUMS = ROOT / "tests" / "native" / "sums.cu"
MACHINES = ("h100-sxm", "a100-80")
LAUNCH = ["--grid", "64", "--block", "256", "--arg", "16384", "--arg", "2.0f"]
ARRAYS = ["--arg", "random:float32:16384", "--arg", "zeros:float32:16384"]
COMMANDS = [
    ["run", "--engine", "fast"],  # README's first
    *(["run", str(SUMS), *LAUNCH, *ARRAYS, "-m", machine, "--html", "page.html"] for machine in MACHINES),
    ["run", "reduce", "-p", "n=65536", "-m", "rtx-4090"],
]
CALLED = """
import json, sys
from simtmm.native import loop
from simtmm.native.shipped import Shipped, document
found, right = [], loop.Loop._code_for
def noted(self, parameters):
    module = str(self.function.__module__)
    if module.startswith("simtmm.") and not self._checked:
        found.append(Shipped(module, self.function.__name__, parameters))
    return right(self, parameters)
loop.Loop._code_for = noted
from simtmm.__main__ import main
sys.argv[1:] = json.loads(sys.argv[1])
try:
    status = main()
except SystemExit as end:
    status = end.code
with open("loops.json", "w") as file:
    json.dump(document(found), file)
sys.exit(status)
"""


def called(command):
    """The loops that a command calls, as rows of the list."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-c", CALLED, json.dumps(command)]
        done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads((Path(folder) / "loops.json").read_text())


def write():
    """Write the list anew, one loop a line."""
    rows = {json.dumps(row): None for command in COMMANDS for row in called(command)}
    LIST.write_text("[\n" + ",\n".join(sorted(rows)) + "\n]\n")


if __name__ == "__main__":
    write()
