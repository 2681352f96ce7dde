"""The report of a search, as a whole: every number in it is another, and every sentence is there or not.

`python -m tests.report.test_tune` writes report-tune.txt and .json in tests/golden/outputs, if they are to differ.
"""

import io
import json

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.trial import Subject, Trial
from simtmm.analysis.tuning.tuned import Tuned
from simtmm.provenance import provenance
from simtmm.report.studies.tune import describe_tuned
from tests.whole import OUTPUTS, comparable

GOLDEN = OUTPUTS / "report-tune.txt"
SHORT = ["cycles < 2000"]
MACHINE = load_machine("gtx480").replace({"clock_hz": 1e9})


def trial(n, cycles=0.0, **others):
    """A trial at a billion cycles a second. n: of its configuration."""
    ran = {"seconds": cycles / 1e9, "bound": "latency", "blocks": 3, "registers": 21} if cycles else {}
    return Trial({"n": n, "threads": 64}, **{"cycles": cycles, **ran, **others})


def tuned_of(*trials, minimise=(), where=(), **others):
    subject = Subject("merge", {}, MACHINE, None, ())
    given = {"fixed": {}, "excluded": 0, "error": 0.02, **others}
    return Tuned("merge", MACHINE, over=("n", "threads"), trials=trials, goals=Goals(subject, minimise, where), **given)


def report(*trials, top=9, **others):
    return text_of(tuned_of(*trials, **others), top)


def text_of(tuned, top):
    out = io.StringIO()
    console = Console(file=out, width=150)
    for part in describe_tuned(tuned, top):
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


RAN = [
    trial(32, 1040.0, error=0.011, precision=0.02, predictions={"tmm": 900.0, "roofline": 55.0}, blocks=7),
    trial(64, 1000.0, error=0.015, precision=0.02, predictions={"tmm": 950.0, "roofline": 44.0}, bound="issue"),
    trial(96, 1051.0, predictions={"tmm": 800.0, "roofline": 66.0}, registers=0),
    trial(128, 990.0, error=0.3, precision=0.3, predictions={"tmm": 999.0, "roofline": 77.0}),  # not precise enough
    trial(160, 3000.0, predictions={"tmm": 2999.0, "roofline": 88.0}),
]
LEFT = [
    *[trial(1000 + m, status="bounded", least=5000.0 - 100 * m) for m in range(2)],
    *[trial(2000 + m, status="does not fit", reason=f"reason {(m + 1) % 4}") for m in range(9)],
    *[trial(3000 + m, status="open") for m in range(6)],
]


def searches():
    """Searches for the fastest, by two objectives, by one that is no time, and by one of which the best is 0."""
    yield tuned_of(*RAN, *LEFT, fixed={"share": 7, "seed": 8}, sampled=1234, excluded=11, where=SHORT), 3
    ran = [trial(32 * (m + 1), 1000.0 * (m + 1), registers=registers) for m, registers in enumerate((30, 20, 25))]
    yield tuned_of(*ran, trial(128, 4000.0, registers=10, error=0.01), minimise=["cycles", "registers"]), 2
    ran = [trial(32, 1000.0, registers=30, predictions={"tmm": 9.0})]
    ran.append(trial(64, 2000.0, registers=20, error=0.01, predictions={"tmm": 5.0}))
    yield tuned_of(*ran, minimise=["cycles * registers"], where=["cycles < 2010"], excluded=4), 9
    yield tuned_of(*ran, minimise=["cycles - 1000"]), 9


def reports():
    return "\n\n\n".join(text_of(tuned, top) for tuned, top in searches()) + "\n"


def documents():
    found = [tuned.to_dict() for tuned, _ in searches()]
    for document in found:
        assert document.pop("provenance").keys() == provenance().keys()
    return json.dumps(comparable(found), indent=1) + "\n"


def test_a_report_has_every_number_and_sentence_that_it_had():
    assert reports() == GOLDEN.read_text(encoding="utf-8")


def test_a_document_has_what_it_had():
    assert documents() == GOLDEN.with_suffix(".json").read_text(encoding="utf-8")


def test_a_table_has_a_row_for_each_that_ran_the_best_first():
    pytest.importorskip("pandas")
    rows = next(searches())[0].to_frame().to_dict("records")
    assert rows == [
        {"n": n, "threads": 64, "cycles": cycles, "error": error, "objective": cycles / 1e9}
        for n, cycles, error in ((64, 1000.0, 0.015), (32, 1040.0, 0.011), (96, 1051.0, 0.0), (128, 990.0, 0.3))
    ]


@pytest.mark.parametrize(
    ("others", "sentences"),
    [
        (
            {"left": LEFT[1:3] + LEFT[-1:], "excluded": 1, "where": SHORT},
            [
                "1 configuration not simulated: by their instructions and the machine's rules it takes at least 4.9 us,"
                " and the best takes less",
                "1 combination left out by --where", "1 configuration ran and did not meet --where",
                "1 configuration not run yet",
            ],
        ),
        ({"left": []}, []),
    ],
)  # fmt: skip
def test_one_is_said_as_one_and_none_is_not_said(others, sentences):
    left = others.pop("left")
    found = report(*RAN, *left, **others)
    for sentence in sentences:
        assert sentence in found.replace("\n", " ")
    said = [word for word in ("not simulated", "left out", "did not meet", "not run yet", "Can't run") if word in found]
    assert said == (["not simulated", "left out", "did not meet", "not run yet", "Can't run"] if left else [])
    assert "combinations were tried" not in found
    assert "other reasons" not in found


@pytest.mark.parametrize(("number", "said"), [(3, None), (4, "and 1 other reason: "), (5, "and 2 other reasons: ")])
def test_reasons_that_are_not_listed_are_counted(number, said):
    found = report(*RAN, *(trial(m, status="failed", reason=f"reason {m}") for m in range(number)))
    assert ("other reason" in found) == (said is not None)
    assert said is None or said in found


if __name__ == "__main__":
    GOLDEN.write_text(reports(), encoding="utf-8")
    GOLDEN.with_suffix(".json").write_text(documents(), encoding="utf-8")
