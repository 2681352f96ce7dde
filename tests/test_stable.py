"""docs/stable.md names what is there: keys of a run's document, and budgets of what a newcomer waits for."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pydantic import ValidationError

from simtmm import run
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.report.run_document import RunDocument, schema
from tests.whole import OUTPUTS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "stable.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(path.name for path in OUTPUTS.glob("run*.json"))
MODULES = 145  # that `import simtmm` loads at most, Python's own among them
HELP_MODULES = 345  # that `simtmm --help` loads at most
HEAVY = {"numba", "llvmlite", "pyarrow", "sympy", "scipy", "networkx", "simpy", "matplotlib", "pandas", "numpy"}
WHEEL = 7_700_000  # bytes of the package's files, which a wheel compresses
INSTALL = 600_000_000  # bytes of all that a base install brings, before Python compiles it; Numba was 15 MB more


def test_the_keys_of_a_runs_document_are_those_of_the_page():
    table = PAGE[PAGE.index("| key | what it is |") : PAGE.index("Lines and rows:")]
    named = {key for row in table.splitlines()[2:] if "|" in row for key in re.findall(r"`(\w+)`", row.split("|")[1])}
    document = run(str(shipped_trace(DEFAULT_TRACE)), "gtx280", what_if=False).to_dict()
    assert json.loads(json.dumps(document)).keys() == named


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_of_runs_keep_to_the_schema(name):
    document = json.loads((OUTPUTS / name).read_text(encoding="utf-8"))
    RunDocument.model_validate(document)
    for key in RunDocument.model_fields:
        with pytest.raises(ValidationError):
            RunDocument.model_validate({each: value for each, value in document.items() if each != key})


def test_the_schema_that_is_published_is_that_of_the_code():
    assert (ROOT / "docs" / "run.schema.json").read_text(encoding="utf-8") == schema()


def loaded(*words):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}


def test_importing_simtmm_loads_little():
    found = loaded("-c", "import simtmm")
    assert len(found) <= MODULES
    assert not found & HEAVY


def test_help_loads_little():
    found = loaded("-m", "simtmm", "--help")
    assert len(found) <= HELP_MODULES
    assert not found & (HEAVY - {"numpy"})


def test_the_package_stays_small():
    shipped = [path for path in (ROOT / "simtmm").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in shipped) <= WHEEL


def brought(requirements):
    """The packages that these bring, and those that those bring."""
    found, left = set(), [Requirement(text) for text in requirements]
    while left:
        wanted = left.pop()
        if wanted.name.lower() not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found.add(wanted.name.lower())
            left += [Requirement(text) for text in distribution(wanted.name).requires or ()]
    return found


def test_a_base_install_stays_small():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = brought(project["dependencies"])
    assert "numba" not in packages
    files = [file for name in packages for file in distribution(name).files or ()]
    assert sum(file.size or 0 for file in files) <= INSTALL
