"""docs/glossary.md has every word that a reader from elsewhere meets."""

import dataclasses
import re
from pathlib import Path

import pytest

from simtmm.machine import units
from simtmm.model.equations.symbols import TINF, C, L, M, P, Q, T, X, Z
from simtmm.result import WHERE_TIME_GOES, Result
from simtmm.trace.counts import Counts
from simtmm.workload import OPERATIONS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TOLD = set(re.findall(r"`([^`\n]+)`", PAGE))
OF_A_FILE = {"name", "description", "sources", "hong_kim"}  # what a machine file says of itself; a table of two keys


@pytest.mark.parametrize("key", [key for key in units() if key not in OF_A_FILE])
def test_every_key_of_a_machine_is_reported(key):
    assert key in TOLD


@pytest.mark.parametrize("field", [field.name for result in (Result, Counts) for field in dataclasses.fields(result)])
def test_every_field_of_a_result_and_of_counts_is_reported(field):
    assert field in TOLD


@pytest.mark.parametrize("word", [*WHERE_TIME_GOES, *OPERATIONS])
def test_every_state_and_operation_is_reported(word):
    assert word in TOLD


@pytest.mark.parametrize("symbol", [P, Q, T, X, L, C, Z, M, TINF], ids=lambda symbol: symbol.name)
def test_every_letter_of_the_tmm_is_reported(symbol):
    letters = PAGE[PAGE.index("## Letters of the TMM") :]
    assert re.search(rf"\b{symbol.name}\b", letters)


def test_what_it_tells_of_machines_is_a_key_of_one():
    tables = ("cores", "scheduling", "memory", "limits", "resources", "banks", "hong_kim")
    keys = {word for word in TOLD if word.startswith(tuple(f"{table}." for table in tables))}
    assert keys - set(units()) == {"cores.threads_per_core"}  # told as the old name that it is


def test_every_row_of_a_table_has_all_its_columns():
    width = 0
    for line in PAGE.splitlines():
        columns = line.count("|") if line.startswith("|") else 0
        assert columns in (0, width) or width == 0, line
        width = columns


@pytest.mark.parametrize("page", ["README.md", "docs/machine.md"])
def test_other_pages_lead_to_it(page):
    assert "glossary.md" in (ROOT / page).read_text(encoding="utf-8")
