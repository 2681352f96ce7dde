"""The report of a search, as a whole: every number in it is another, and every sentence is there or not.

`python -m tests.report.test_tune` writes tests/golden/outputs/report-tune.txt anew, where it is meant to differ.
"""

import io

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.trial import Subject, Trial
from simtmm.analysis.tuning.tuned import Tuned
from simtmm.report.tune import describe_tuned
from tests.whole import OUTPUTS

GOLDEN = OUTPUTS / "report-tune.txt"
SHORT = ["cycles < 2000"]
MACHINE = load_machine("gtx480").replace({"clock_hz": 1e9})


def trial(n, cycles=0.0, **others):
    """A trial at a billion cycles a second. n: of its configuration."""
    ran = {"seconds": cycles / 1e9, "bound": "latency", "blocks": 3, "registers": 21} if cycles else {}
    return Trial({"n": n, "threads": 64}, **{"cycles": cycles, **ran, **others})


def report(*trials, minimise=(), where=(), top=9, **others):
    subject = Subject("merge", {}, MACHINE, None, ())
    goals = Goals(subject, minimise, where)
    given = {"fixed": {}, "excluded": 0, "error": 0.02, **others}
    tuned = Tuned("merge", MACHINE, over=("n", "threads"), trials=trials, goals=goals, **given)
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
    *[trial(2000 + m, status="does not fit", reason=f"reason {m % 4}") for m in range(9)],
    *[trial(3000 + m, status="open") for m in range(6)],
]


def reports():
    """Of the fastest, of two objectives, and of one that is no time."""
    of_time = report(*RAN, *LEFT, fixed={"share": 7, "seed": 8}, sampled=1234, excluded=11, where=SHORT, top=3)
    ran = [trial(32 * (m + 1), 1000.0 * (m + 1), registers=registers) for m, registers in enumerate((30, 20, 25))]
    of_two = report(*ran, trial(128, 4000.0, registers=10, error=0.01), minimise=["cycles", "registers"], top=2)
    ran = [trial(32, 1000.0, registers=30, predictions={"tmm": 9.0})]
    ran.append(trial(64, 2000.0, registers=20, error=0.01, predictions={"tmm": 5.0}))
    of_other = report(*ran, minimise=["cycles * registers"], where=["cycles < 2010"])
    return "\n\n\n".join([of_time, of_two, of_other]) + "\n"


def test_a_report_has_every_number_and_sentence_that_it_had():
    assert reports() == GOLDEN.read_text(encoding="utf-8")


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
