"""What the live page is sent for some states, as a whole: of what is long a digest.

`python -m tests.explorer.test_whole` writes it anew (tests/golden/outputs), where it is meant to differ.
"""

import json
import queue

import pytest

from simtmm.explorer.programs import Programs
from simtmm.explorer.session import Session
from tests.explorer.test_session import PATIENCE, answers
from tests.report.test_whole import _in_short
from tests.whole import OUTPUTS, comparable

STATES = {
    "two latencies": "latency=800&b.latency=400&drag=latency",
    "another kernel": "k=transpose&m=gtx480",
    "two machines": "k=reduce&m=v100&p.n=2048&b.m=gtx480",
    "a parameter": "k=copy&m=gtx480&p.pattern=stride&p.stride=4&p.n=4096",
}
TIMED = {"whatIfs", "advice"}  # which have a limit of time
FILE = OUTPUTS / "explorer.json"


def sent(programs, state):
    """The answer's form, runs, curve as it is at last, and what to save."""
    parts = queue.Queue()
    session = Session(programs, parts.put, "copy", "classroom")
    session.parts = parts
    try:
        session.ask(1, state)
        found = answers(session, 1)
    finally:
        session.close()
        session.join(PATIENCE)
    by_part = {f"{part['part']} {part.get('side', '')}".strip(): part for part in found}
    return {name: short(part) for name, part in by_part.items() if name not in ("progress", "done")}


def short(part):
    """A part, of whose long values digests are left; of a run, those of its values."""
    if "run" not in part:
        return _in_short(part)
    return {**part, "run": _in_short({key: value for key, value in part["run"].items() if key not in TIMED})}


@pytest.mark.parametrize("name", STATES)
def test_a_page_is_sent_what_it_was_sent(programs, name):
    assert comparable(sent(programs, STATES[name])) == json.loads(FILE.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    made = {name: sent(Programs(), state) for name, state in STATES.items()}
    FILE.write_text(json.dumps(comparable(made), indent=1) + "\n", encoding="utf-8")
