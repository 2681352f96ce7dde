"""`simtmm tune`: what it prints and writes, and what it refuses."""

import contextlib
import json

import pytest

from simtmm.report import progress
from tests.recorder.conftest import quick_builds as quick_builds

WORDS = ("tune", "vector-add", "-m", "gtx480", "--over", "side=4,16", "-p", "n=5000", "-j", "1", "--store", "t.sqlite")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_fastest_configurations_stand_in_a_table_and_in_the_document(called, here, quick_builds):
    status, out, _ = called(*WORDS, "--t4", "t4.json", "--top", "1", "--where", "side > 1")
    assert status == 0
    assert "Fastest configurations" in out
    assert "and 1 more: see --json" in out
    assert "The models would choose" in out
    document = json.loads(called(*WORDS, "--json")[1])
    assert [each["configuration"] for each in document["configurations"]] == [{"side": 16}, {"side": 4}]
    results = json.loads((here / "t4.json").read_text())["results"]
    assert [result["configuration"]["side"] for result in results] == [4, 16]


def test_a_front_is_a_table_a_document_and_a_picture(called, here, quick_builds):
    words = (*WORDS, "--minimise", "seconds", "--objective", "-side", "--picture", "front.png")
    status, out, _ = called(*words)
    assert status == 0
    assert "Pareto front" in out
    assert (here / "front.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(called(*words, "--json")[1])
    assert document["minimise"] == ["seconds", "-side"]
    assert [each["configuration"] for each in document["front"]] == [{"side": 16}]


def test_progress_begins_before_what_is_slow_to_load(called, here, quick_builds, monkeypatch):
    seen = []

    @contextlib.contextmanager
    def watching(at_once=False):
        assert at_once
        yield lambda *given: seen.append(given)

    monkeypatch.setattr(progress, "watching", watching)
    assert called(*WORDS)[0] == 0
    assert seen[0] == ("configurations", 0, None)
    assert seen[-1] == ("configurations", 2, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*WORDS[:4], "--minimise", "seconds"), "nothing to tune: give --over NAME=VALUES"),
        ((*WORDS, "--error", "3x"), "--error '3x': must be a part of the time, as 3% or 0.03"),
        ((*WORDS, "--error", "0.1%"), "because repetitions can't show a smaller error"),
        (("tune", "vektor-add", "--over", "side=4"), "did you mean 'vector-add'?"),
        (("tune", "none.json"), "none.json: can't be read"),
        ((*WORDS, "--picture", "a.png"), "--picture: shows a Pareto front: give --minimise twice"),
        ((*WORDS, "--seed", "1"), "--seed: needs --sampler"),
    ],
)
def test_a_mistake_is_one_line(called, here, nothing_kept, words, said):
    status, out, err = called(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
