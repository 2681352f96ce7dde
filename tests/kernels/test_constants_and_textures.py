"""Constants cost an instruction for each word that a warp reads; tiles serve neighbours in both directions."""

import re
from pathlib import Path

import pytest

from simtmm import load_machine, lower, record, simulate
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler
MACHINE = load_machine("a100-80")
PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"
READS, WARPS = 16, 4096 // 32  # of constant-table by default


def result(kernel, form, **parameters):
    return simulate(MACHINE, lower(record(kernel, parameters, form=form), MACHINE))


def row_of(page, beginning):
    (line,) = [line for line in page.splitlines() if line.startswith(beginning)]
    return [int(number.replace(",", "")) for number in re.findall(r"\| +([\d,]+) (?=\|)", line)]


def constants(form, indexes, memory="constant"):
    return result("constant-table", form, indexes=indexes, memory=memory)


def test_a_warp_at_32_indexes_of_constants_issues_31_more_instructions_a_read():
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    one, other = constants("compiled", "broadcast"), constants("compiled", "neighbours")
    assert other.issued - one.issued == 31 * READS * WARPS
    assert one.transactions == other.transactions == 2 * WARPS  # an index, and a sum


def test_as_written_a_read_of_constants_is_an_operation_wherever_it_is():
    one, other = constants("written", "broadcast"), constants("written", "neighbours")
    assert one.issued == other.issued
    assert one.ticks == other.ticks


@pytest.mark.parametrize("memory", ["constant", "global"])
@pytest.mark.parametrize("indexes", ["broadcast", "neighbours", "random"])
def test_the_page_has_what_constants_take(memory, indexes):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    found = constants("compiled", indexes, memory)
    row = row_of(PAGE.read_text(encoding="utf-8"), f"| `memory={memory} indexes={indexes}` |")
    assert row == [round(found.cycles), found.issued, found.transactions]


@pytest.mark.parametrize("angle", [0, 30, 90])
def test_the_page_has_what_rotations_take(angle):
    rows, tiles = (
        result("texture-rotation", "written", n=512, height=16, angle=angle, layout=of) for of in ("rows", "tiles")
    )
    row = row_of(PAGE.read_text(encoding="utf-8"), f"| `angle={angle}` |")
    assert row == [round(rows.cycles), rows.transactions, round(tiles.cycles), tiles.transactions]
    assert (rows.ticks < tiles.ticks) is (angle == 0)
