"""Comparisons as text, CSV and LaTeX."""

import csv
import io
import re

from rich.console import Console

from simtmm.analysis.comparison.case import Absent
from simtmm.measurement.timings import Timing
from simtmm.model import MODELS, MODELS_OF_ALGORITHMS
from simtmm.model.calibrated import CALIBRATED
from simtmm.model.series import MEASURED, SIMULATED, all_series, label
from simtmm.report.compare import comparison_csv, comparison_latex, describe_comparison
from tests.study.cases import case, comparison, without_clock


def text(made):
    console = Console(width=200, highlight=False)
    with console.capture() as captured:
        for part in describe_comparison(made):
            console.print(part, soft_wrap=True)
    return captured.get()


MADE = comparison(
    case(64, 1000, {"tmm": (500, "memory")}, measured=4e-6),
    case(128, 3000, {"tmm": (1710, "compute")}),
    case(256, 9000, {"tmm": (9000, "memory")}),
    absent=(Absent("kernel", {"n": 512}, "hand", "skipped", "does not fit"),),
    unmatched=(Timing("other", "gtx280", 1.0, origin="t.csv: line 2"),),
    fits={"kernel on hand": {"a1": 2.0, "a0": 7.0, "cases": 3}},
)


def line(told, begin):
    (found,) = [line for line in told.splitlines() if line.startswith(begin)]
    return re.split(r" {2,}", found.strip())


def test_every_series_has_a_label_of_its_own():
    labels = [label(name) for name in all_series()]
    assert set(all_series()) == {SIMULATED, MEASURED, CALIBRATED.name, *MODELS, *MODELS_OF_ALGORITHMS}
    assert len(set(labels)) == len(labels)


def test_it_tells_times_ratios_agreement_and_what_binds():
    told = text(MADE)
    assert re.search(r"^kernel \(n=64\) +hand +1 us +500 ns +4 us$", told, flags=re.MULTILINE)
    assert re.search(r"^kernel \(n=128\) +hand +0\.570 +-$", told, flags=re.MULTILINE)
    assert line(told, "TMM  ") == ["TMM", "3", "0.658", "0.570", "0.500", "31 %", "1.000", "1.000", "2 of 3"]
    assert re.search(r"^kernel \(n=128\) +hand +memory +compute$", told, flags=re.MULTILINE)


def test_it_tells_what_is_left_out_and_what_was_fitted():
    told = text(MADE)
    assert "Skipped: kernel, n=512, hand: does not fit" in told
    assert re.search(r"^kernel \(n=512\) +hand +skipped *$", told, flags=re.MULTILINE)
    assert "1 measured times match no case, such as other on gtx280 (t.csv: line 2)" in told
    assert "a1 = 2, a0 = 7 cycles, fitted to 3 simulated times, the same that it is compared with" in told
    assert "no clock" not in told


def test_without_a_clock_times_are_cycles():
    told = text(comparison(without_clock(case(64, 1000, {"tmm": (500, "memory")}))))
    assert re.search(r"^kernel \(n=64\) +hand +1,000 +500 +-$", told, flags=re.MULTILINE)
    assert "Times are in cycles, because a machine has no clock rate." in told


def test_csv_has_a_row_a_case_and_series():
    rows = list(csv.DictReader(io.StringIO(comparison_csv(MADE))))
    assert [(row["n"], row["series"]) for row in rows] == [
        ("64", "simulated"), ("64", "tmm"), ("64", "measured"), ("128", "simulated"), ("128", "tmm"),
        ("256", "simulated"), ("256", "tmm"), ("512", ""),
    ]  # fmt: skip
    assert (rows[-1]["status"], rows[-1]["reason"], rows[-1]["cycles"]) == ("skipped", "does not fit", "")
    assert rows[4]["of_simulated"] == "0.57"
    assert rows[2]["bound"] == ""


def test_latex_has_two_tables_with_as_many_cells_as_columns():
    told = comparison_latex(MADE)
    tables = re.findall(
        r"\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n(.*?)\\bottomrule\n\\end\{tabular\}", told, re.DOTALL
    )
    assert len(tables) == 2
    for (columns, body), number in zip(tables, (len(MADE.cases), len(MADE.agreements())), strict=True):
        rows = [row for row in body.splitlines() if row != r"\midrule"]
        assert len(rows) == 1 + number
        assert body.splitlines()[1] == r"\midrule"
        assert len(set(rows)) == len(rows)
        for row in rows:
            assert row.endswith(r" \\")
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1
    assert r"kernel (n=128) & hand & 3 $\mu$s & 0.570 & -- \\" in told
    assert r"31 \%" in told


def test_latex_takes_special_characters():
    odd = case(1, 100, {"tmm": (50, "memory")}, program="a_b&c")
    assert r"a\_b\&c (n=1) & hand" in comparison_latex(comparison(odd))
