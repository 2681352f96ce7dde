"""docs/stable.md names what is there: keys of a run's document, and budgets of what a newcomer waits for."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from simtmm import run
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.report.run_document import RunDocument, schema
from tests.whole import OUTPUTS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "stable.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(path.name for path in OUTPUTS.glob("run*.json"))
MODULES = 150  # that `import simtmm` loads at most, Python's own among them
HELP_MODULES = 420  # that `simtmm --help` loads at most
HEAVY = {"numba", "llvmlite", "pyarrow", "sympy", "scipy", "networkx", "simpy", "matplotlib", "pandas", "numpy"}
WHEEL = 7_000_000  # bytes of the package's files, which a wheel compresses


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
