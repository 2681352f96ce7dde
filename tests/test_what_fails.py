"""docs/what-fails.md: its figures are those of docs/accuracy, and no table in which a model is better is left out."""

import json
import re
from pathlib import Path

import pytest

from simtmm.model.series import SIMULATED
from simtmm.validation.cases.stream_left_out import SHEET
from simtmm.validation.snapshot import read

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "what-fails.md").read_text(encoding="utf-8")
TABLES = {kept.accuracy.name: kept for kept in read(DOCS / "accuracy")}
ROWS = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in PAGE.splitlines() if "% |" in line]
ABLATIONS = ("ablation-streams", "ablation-kernels")
MODELS = ("pram", "tmm", "tmm-warps", "roofline", "mwp-cwp")


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_each_figure_is_the_tables(row):
    table, group, *told, reproduction = row
    kept = TABLES[table]
    off = [point.said[SIMULATED] / point.measured - 1 for point in kept.accuracy.points if point.group == group]
    assert off
    mean, bias = sum(map(abs, off)) / len(off), sum(off) / len(off)
    largest = max(off, key=abs)
    assert told == [str(len(off)), f"{100 * mean:.1f} %", f"{100 * bias:+.1f} %", f"{100 * largest:+.1f} %"]
    assert kept.reproduction == reproduction


def test_tables_of_measured_values_in_which_a_model_is_better_are_those_that_are_told():
    """By its mean error, or by the order it puts the points in; models alone, and not the simulation made otherwise."""
    better = set()
    for name, kept in TABLES.items():
        table = kept.accuracy
        if table.reference != "measured" or name in ABLATIONS or SIMULATED not in table.points[0].said:
            continue
        ours = table.errors(SIMULATED)
        for model in MODELS:
            if model not in table.points[0].said:
                continue
            theirs = table.errors(model)
            ranks = theirs.spearman, ours.spearman
            if theirs.mean < ours.mean or (None not in ranks and ranks[0] > ranks[1]):
                better.add((name, model))
    assert better == {("h100-gemm", "mwp-cwp"), ("h100-gemm", "pram"), ("h100-gemm", "roofline")}
    told = re.search(
        r"rank correlation ([\d.]+) beside ([\d.]+) \(MWP-CWP\), ([\d.]+) \(PRAM\) and ([\d.]+) \(roofl", PAGE
    )
    gemm = TABLES["h100-gemm"].accuracy
    assert told.groups() == tuple(
        f"{gemm.errors(series).spearman:.3f}" for series in (SIMULATED, "mwp-cwp", "pram", "roofline")
    )


def test_what_a_data_sheet_alone_gives_is_told():
    for machine in ("mi300a", "mi210"):
        off = 100 * TABLES[f"stream-left-out-{machine}"].accuracy.errors(SHEET).mean
        assert f"is off by {off:.1f} %" in " ".join(PAGE.split()), machine


def test_an_l2_that_is_empty_at_first_is_told_as_the_ablation_has_it():
    points = json.loads((DOCS / "accuracy" / "ablation-kernels.json").read_text(encoding="utf-8"))["points"]
    cold = "without l2.start = warm"

    def mean(series, group=None):
        chosen = [point for point in points if group in (None, point["group"])]
        return sum(abs(point["said"][series] / point["measured"] - 1) for point in chosen) / len(chosen)

    told = [mean(series, group) for group in ("scalar-product", None) for series in (SIMULATED, cold)]
    one, other, all_, all_cold = (f"{100 * value:.1f}" for value in told)
    text = " ".join(PAGE.split())
    assert f"goes from {one} to {other} %, and that of all kernels from {all_} to {all_cold} %" in text
