"""Kernels as strangers bring them: what is said of each is what an accepted answer says."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.analysis.why_slow.strangers import FILE, MISSED, QUESTIONS, TOKENS
from tests.cuda.compilers.conftest import needs_machine_code
from tests.examples import daily

pytestmark = needs_machine_code
HERE = Path(__file__).parent


def said(asked, folder):
    """The cause, the line's text and the first advice's change."""
    np.save(folder / "tokens.npy", TOKENS)
    given = [str(folder / each) if each.endswith(".npy") else each for each in asked.arguments]
    done = run(
        cuda_program(HERE / FILE, asked.grid, asked.block, given, kernel=asked.kernel), load_machine(asked.machine)
    )
    line = done.verdict.where.line if done.verdict.where else 0
    source = (HERE / FILE).read_text().splitlines()[line - 1] if line else ""
    return done.verdict.cause, source, done.advice[0].change if done.advice else "", done


ANSWERED = [each for each in QUESTIONS if each.kernel not in MISSED]


@pytest.mark.parametrize("asked", daily(ANSWERED, 8), ids=lambda asked: asked.kernel)
def test_the_cause_the_line_and_the_first_advice_are_those_of_the_answer(asked, tmp_path):
    cause, source, change, done = said(asked, tmp_path)
    assert any(each in cause for each in asked.causes), done.verdict.words
    assert any(each in source for each in asked.line), (source, done.verdict.words)
    assert change in asked.changes, done.advice
