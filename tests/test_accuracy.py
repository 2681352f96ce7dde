"""docs/accuracy.md: what it states is what is computed, and no worse than promised.

`simtmm paper reproduce --check` computes every point anew, which takes minutes; here each reproduction's sample is.
"""

from pathlib import Path

import pytest

from simtmm.model.series import SIMULATED
from simtmm.report.accuracy.folder import underived
from simtmm.validation.cases import MAY_BE_EMPTY, ONLY_IF_NAMED, REPRODUCTIONS
from simtmm.validation.snapshot import TEXTS, broken_promises, read, stale_points
from tests.cuda.compilers.conftest import needs_machine_code
from tests.recorder.conftest import needs_compiler

DOCS = Path(__file__).parents[1] / "docs"
KEPT = read(DOCS / "accuracy")
SAID = [key for key in TEXTS if key != "notes"]  # which may count points; a promise, too, is the one that is stated
TABLES = {kept.accuracy.name: kept.accuracy for kept in KEPT}


def test_every_reproduction_is_there_and_no_other():
    found = list(dict.fromkeys(kept.reproduction for kept in KEPT))
    assert found == [name for name in REPRODUCTIONS if name in found or name not in MAY_BE_EMPTY]


def test_page_errors_values_and_pictures_follow_from_the_points():
    assert underived(DOCS) == ()


@pytest.mark.parametrize("name", TABLES)
def test_no_error_is_worse_than_promised(name):
    assert broken_promises(TABLES[name]) == []


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in TABLES
        if name.startswith("h100-") and name not in ("h100-ffma-calibration", "h100-sxm-histogram")  # two points
    ],
)
def test_kernels_on_an_h100_come_in_the_order_of_their_times(name):
    rank = TABLES[name].errors(SIMULATED).spearman
    assert rank is not None
    # Rules that are missing keep two tables below: their notes say which. Empty kernels of an H100 SXM up to 128 blocks
    # took 1.81 to 1.90 us, in an order that is chance.
    least = {"h100-ffma": 0.94, "h100-polybench-compiled": 0.86, "h100-sxm-empty": 0.87}
    assert rank >= least.get(name, 0.95)


LEFT_OUT = [name for name in TABLES if name.startswith("stream-left-out-")]


@pytest.mark.parametrize("name", [name for name in TABLES if name.startswith("stream-") and name not in LEFT_OUT])
def test_reading_over_occupancy_is_within_the_projects_aim(name):
    """2.5 % on the read kernel, 6 % on all six."""
    assert TABLES[name].errors(SIMULATED, "read").mean <= 0.025
    assert TABLES[name].errors(SIMULATED).mean <= 0.06


def test_gpus_that_were_never_calibrated_are_within_the_projects_aim():
    """By maker: 10 % on NVIDIA's, 18 % on AMD's; each GPU from the others."""
    errors = {name: TABLES[name].errors(SIMULATED).mean for name in LEFT_OUT}
    of_amd = [error for name, error in errors.items() if name.startswith("stream-left-out-mi")]
    of_nvidia = [error for name, error in errors.items() if not name.startswith("stream-left-out-mi")]
    assert (len(of_nvidia), len(of_amd)) == (4, 2)
    assert sum(of_nvidia) / 4 <= 0.1
    assert sum(of_amd) / 2 <= 0.18


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=needs_machine_code if name in ONLY_IF_NAMED else needs_compiler)
        for name in REPRODUCTIONS
    ],
)
def test_a_sample_computed_anew_is_what_is_stated(sampled, name):
    found = [table for table in sampled(name) if table.points]
    assert found or name in MAY_BE_EMPTY
    for table in found:
        stated = TABLES[table.name]
        assert list(stale_points(stated, table)) == []
        assert {key: getattr(table, key) for key in SAID} == {key: getattr(stated, key) for key in SAID}


@pytest.mark.parametrize("path", sorted((DOCS / "accuracy").glob("*.png")), ids=lambda path: path.stem)
def test_pictures_are_small(path):
    assert path.stat().st_size < 160_000
