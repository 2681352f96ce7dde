"""docs/ptx.md lists every instruction, under what runs or under what is refused."""

import re
from pathlib import Path

from simtmm.cuda.execution import page
from simtmm.cuda.execution.instructions import HANDLERS
from simtmm.cuda.execution.instructions.refused import REASONS
from simtmm.cuda.ptx.flow.basic_blocks import BARRIER_RESULT, LEAVE_CONVERGENCE

PAGE = Path(__file__).parents[3] / "docs" / "ptx.md"
CONTROL = {"bra", "brx", "call", "ret", "exit", "trap"}  # which end blocks of code and have no handler


def opcodes_of(title):
    """The opcodes in the table of a chapter."""
    chapter = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line for line in chapter.splitlines() if line.startswith("|")]
    return set(re.findall(r"`([a-z]\w+)`", "\n".join(rows)))


def test_the_page_of_forms_is_that_of_the_table():
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


def test_what_runs_is_listed():
    ours = {BARRIER_RESULT, LEAVE_CONVERGENCE}  # of no PTX
    assert opcodes_of("Instructions") == (HANDLERS.keys() - REASONS.keys() - ours) | CONTROL


def test_what_is_refused_is_listed():
    assert opcodes_of("Refused") - {"cp"} == REASONS.keys()
