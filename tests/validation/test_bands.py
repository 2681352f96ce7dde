"""Bands of claims: what is kept is what a simulation gives, and a picture says what was shrunk."""

import hashlib

import pytest

from simtmm.errors import StudyError
from simtmm.machine import load_machine
from simtmm.validation.band import band as band_of
from simtmm.validation.cases.gtx480_apsp import one_group
from simtmm.validation.claims.bands import Band, Side, find_band, known_bands, setting_text, written
from simtmm.validation.figures.bands import figure, outcome
from simtmm.validation.figures.programs import FITTED_NOTHING, seconds
from tests.recorder.conftest import needs_compiler
from tests.validation.bands import FILE, kept

BANDS = known_bands()
LONG = {  # a point takes half a minute or minutes:
    "ma-fig-4.1-full-band", "ma-fig-4.1-rise-full-band",  # 67 million reads of shared memory, on either side
    "ma-fig-4.10-full-band",  # a tree of a text of ten million letters
}  # fmt: skip


@pytest.mark.parametrize("band", BANDS.values(), ids=BANDS)
def test_each_setting_has_an_outcome_and_nothing_else_is_kept(band):
    assert len(band.points.points) == len(list(band.settings))
    assert len({setting_text(each) for each in band.settings}) == len(list(band.settings))
    assert band.at_least <= band.at_most
    assert band.along in band.axes


def test_the_file_is_what_is_kept():
    assert FILE.read_text(encoding="utf-8") == written(kept(), list(BANDS))


@needs_compiler
@pytest.mark.parametrize("name", [name for name in BANDS if name not in LONG])
def test_a_point_comes_out_as_it_is_kept(name):
    """One of the points whose sizes are least: all of them take minutes (`python -m tests.validation.bands NAME`)."""
    band = BANDS[name]
    sizes = [axis for axis in ("n", "m", "accesses") if axis in band.axes]
    points = [
        point for point in band.points.points if all(_value(band, point, axis) == band.axes[axis][0] for axis in sizes)
    ]
    point = points[int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(points)]
    setting = dict(zip(band.axes, point.values, strict=True))
    assert outcome(band, setting) == pytest.approx(point.outcome, rel=1e-5)  # six digits are kept


@needs_compiler
@pytest.mark.parametrize("threads", [64, 256])
def test_one_sub_block_takes_its_share_of_a_product(threads):
    """So bands at n = 8192 simulate one of 16,384."""
    machine = one_group(load_machine("gtx480")).replace({"limits.blocks_per_group": 1})
    parameters = {"n": 192, "sub_block": 64, "threads": threads, "squarings": 1}
    whole, one = (seconds(machine, "apsp-minplus", {**parameters, "computed": few}) for few in (0, 1))
    assert whole == pytest.approx(9 * one, rel=0.02)  # their first loads and last stores overlap by no more


def _value(band, point, axis):
    return point.values[list(band.axes).index(axis)]


def test_an_unknown_band_is_refused():
    with pytest.raises(StudyError, match=r"band 'ma-fig-4\.10-bend': unknown; did you mean"):
        find_band("ma-fig-4.10-bend")


MADE = Band(
    "made", "tmm.fft", "Made", "000", "at most 2", "gtx280", {"n": (1, 2), "order": ("up", "down")},
    Side(value="=n * 3"), Side(value="=n + 1"), "n", "elements", "times as long", at_most=2, shrunk="n to 2; 10 there",
)  # fmt: skip


def test_an_outcome_is_one_side_over_the_other():
    assert outcome(MADE, {"n": 2, "order": "up"}) == 2.0


def test_its_picture_has_a_curve_for_each_other_setting_and_says_what_was_shrunk():
    drawn = figure(MADE, band_of(MADE.axes, lambda **setting: outcome(MADE, setting), MADE.holds))
    assert [curve.label for curve in drawn.curves] == ["order = up", "order = down"]
    assert [curve.y for curve in drawn.curves] == [(1.5, 2.0)] * 2
    assert (drawn.name, drawn.title, drawn.source) == (MADE.name, MADE.title, MADE.source)
    assert (drawn.fitted, drawn.predicted) == (FITTED_NOTHING, "all points")
    assert drawn.y == "times as long; claimed: at most 2"
    assert drawn.shrunk == "n to 2; 10 there"
    assert drawn.notes == ("By at most 2: holds: holds at 4 of 4 points; 1.5 to 2.",)


def test_what_is_missing_is_named():
    with pytest.raises(StudyError, match=r"outcomes\.csv: made: n=1 order=up: is not there"):
        _ = MADE.points
