"""Questions and answers of a page: never stale, never the end of it, and never more memory."""

import queue
import time

import pytest

from simtmm.explorer import session as sessions
from simtmm.explorer.sending import text_of
from simtmm.explorer.session import Session
from simtmm.explorer.start import start
from simtmm.explorer.state import State

PATIENCE = 600  # seconds, on a busy machine


@pytest.fixture
def page(programs):
    parts = queue.Queue()
    opened = Session(programs, parts.put, "copy", "classroom")
    opened.parts = parts
    yield opened
    opened.close()
    opened.join(PATIENCE)


def answers(page, number, last=("saved", "error")):
    """The parts of the answer to a question, up to its last one."""
    found = []
    while not found or found[-1]["part"] not in last or found[-1]["number"] != number:
        found.append(page.parts.get(timeout=PATIENCE))
    return found


def test_an_answer_is_a_form_pictures_a_curve_and_what_to_save(page):
    page.ask(1, "latency=800&b.latency=400&drag=latency")
    found = [part for part in answers(page, 1) if part["part"] != "progress"]
    kinds = [part["part"] for part in found]
    assert kinds[:4] == ["form", "run", "run", "done"]
    assert set(kinds[4:-1]) == {"curve"}
    assert kinds[-1] == "saved"
    first, second = found[1], found[2]
    assert (first["side"], second["side"]) == ("a", "b")
    assert first["run"]["cycles"] > second["run"]["cycles"]
    run = first["run"]
    assert {"reasons", "heat", "lanes", "roofline", "models", "units", "verdict", "occupancy"} <= set(run)
    assert sum(reason["share"] for reason in run["reasons"]) == pytest.approx(1)
    assert len(text_of(first)) < 1_000_000


def test_what_can_t_be_is_one_line_and_the_next_question_is_answered(page):
    wrong = ["latency=-1", "k=none", "p.n=none", "p.none=1", "threads=1", "b.m=none", "latency"]
    for number, text in enumerate(wrong, start=1):
        page.ask(number, text)
        told = answers(page, number)[-1]
        assert told["part"] == "error"
        assert "\n" not in told["words"]
    page.ask(100, "")
    assert answers(page, 100)[-1]["part"] == "saved"


KERNEL = """#include "device.cuh"
extern "C" __global__ void store(float* a, int at) { ST(a, at + threadIdx.x, 1.0f); }
"""
HOST = """import numpy as np
from simtmm.kernel import Launch, Parameter
PARAMETERS = {"at": Parameter(0, "where it begins to store", minimum=0)}
def inputs(p): return {"a": np.zeros(32, np.float32)}
def launches(p, memory): yield Launch("store", ("a", p.at), grid=1, block=32, registers_per_thread=8)
def check(p, before, after): pass
"""


def test_a_kernel_that_fails_is_told_and_the_page_lives_on(tmp_path):
    folder = tmp_path / "storing"
    folder.mkdir()
    (folder / "kernel.cu").write_text(KERNEL)
    (folder / "host.py").write_text(HOST)
    begun = start(folder, "classroom")
    parts = queue.Queue()
    page = Session(begun.programs, parts.put, begun.program, begun.machine)
    page.parts = parts
    page.ask(1, "p.at=1&drag=none")
    told = answers(page, 1)[-1]
    assert told["part"] == "error"
    assert "a[32]" in told["words"] or "index 32" in told["words"]
    page.ask(2, "p.at=0&drag=p.at")
    found = answers(page, 2)
    assert found[-1]["part"] == "saved"
    (*_, curve) = (part["curve"] for part in found if part["part"] == "curve")
    assert curve["values"][0] == 0
    assert curve["simulated"][0] is not None
    assert all(curve["refused"][1:])  # each other place to begin at is out of bounds, and says so
    page.close()
    page.join(PATIENCE)


def test_a_mistake_of_ours_ends_no_page(page, monkeypatch, caplog):
    monkeypatch.setattr(sessions, "views", lambda *_: 1 / 0)
    page.ask(1, "latency=123")
    assert "a mistake in simtmm: ZeroDivisionError" in answers(page, 1)[-1]["words"]
    assert "latency=123" in caplog.text
    monkeypatch.undo()
    page.ask(2, "latency=123")
    assert answers(page, 2)[-1]["part"] == "saved"


def test_of_many_moves_the_last_is_answered_and_nothing_of_one_that_is_over(programs):
    sent = queue.Queue()
    page = Session(programs, sent.put, "copy", "classroom")
    newest = 0

    def send(part):
        assert part["number"] == page._number  # a part is sent only while its question is the newest
        sent.put(part)

    page._send = send
    for newest in range(1, 201):
        page.ask(newest, f"latency={100 + newest}")
    page.parts = sent
    found = answers(page, newest)
    assert found[-1]["part"] == "saved"
    assert next(part["part"] for part in found if part["number"] == newest) == "form"
    page.close()
    page.join(PATIENCE)
    assert not page._thread.is_alive()


def test_two_pages_at_once_have_their_own_answers(programs):
    parts = [queue.Queue(), queue.Queue()]
    pages = [Session(programs, each.put, "copy", "classroom") for each in parts]
    for number, page in enumerate(pages):
        page.parts = parts[number]
        page.ask(1, f"latency={200 + 300 * number}")
    times = [next(part for part in answers(page, 1) if part["part"] == "run")["run"]["cycles"] for page in pages]
    assert times[0] < times[1]
    for page in pages:
        page.close()


def test_moves_leave_nothing_behind(page, programs):
    """Programs, workloads, counts and pictures are bounded: as many after 60 states as after 30."""

    def kept():
        programs_there = list(programs._programs._there.values())
        return (
            len(programs._programs),
            max(len(each.lowered) for each in programs_there),
            max(len(each.counted) for each in programs_there),
            len(page._pictures),
        )

    for number in range(1, 31):
        page.ask(number, f"p.n=2048&chunk={2 ** (number % 6)}&groups={number}&drag=none")
        answers(page, number)
    before = kept()
    for number in range(31, 61):
        page.ask(number, f"p.n=2048&chunk={2 ** (number % 6)}&groups={number}&drag=none")
        answers(page, number)
    assert kept() == before


def test_a_closed_page_computes_no_more(programs):
    began = []
    page = Session(programs, began.append, "copy", "classroom")
    page.ask(1, "p.n=262144&latency=77")
    while not began:
        time.sleep(0.001)
    page.close()
    page.join(PATIENCE)
    assert not page._thread.is_alive()
    assert "saved" not in [part["part"] for part in began]


def test_the_form_is_of_the_machine_and_the_kernel(page):
    form = page._form(State.of("k=transpose&m=ideal", "", "").first)
    assert {"l1", "l2"} & {control["name"] for control in form["controls"]} == set()
    parameters = {each["name"]: each for each in form["parameters"]}
    assert parameters["p.way"]["choices"] == ["naive", "tiled"]
    assert parameters["p.side"]["isShape"]
    assert not parameters["p.padding"]["isShape"]
