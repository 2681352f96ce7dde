"""`simtmm paper equation` and `simtmm paper fit`."""

import json
import sys

import pytest

from simtmm.__main__ import main
from simtmm.model.applications.catalogue import EQUATIONS


@pytest.fixture
def command(monkeypatch, capsys):
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


def test_all_equations_are_listed(command):
    status, out, _ = command("paper", "equation")
    assert status == 0
    assert all(f"\n{name} " in out for name in EQUATIONS)


def test_values_as_text_csv_and_json(command):
    words = ("equation", "hit-rate", "-p", "m=16384,65536", "-p", "C_s=16384")
    assert command(*words)[1].splitlines()[-1].split() == ["65,536", "0.25"]
    assert command(*words, "--csv")[1] == "m,r_H\n16384,1\n65536,0.25\n"
    assert json.loads(command(*words, "--json")[1])["values"] == {"r_H": [1.0, 0.25]}


def test_latex(command):
    assert command("paper", "equation", "apsp-fit", "--latex")[1].startswith("T_P = ")


def test_constants_from_a_file(command, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,seconds\n1,3\n2,5\n3,7\n")
    status, out, _ = command("paper", "fit", str(path), "--x", "x")
    assert (status, "a1 = 2, a0 = 1" in out) == (0, True)
    assert json.loads(command("paper", "fit", str(path), "--x", "x", "--json")[1])["line"]["a1"] == pytest.approx(2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["equation", "nothing"], "equation 'nothing': unknown"),
        (["equation", "hit-rate", "-p", "m=x"], "--param m=x: must be a number"),
        (["equation", "hit-rate", "-p", "m"], "--param m: must be of the form NAME=VALUE"),
        (["equation", "hit-rate", "--latex"], "has no LaTeX"),
        (["equation", "--csv"], "need an equation's name"),
        (["equation", "hit-rate", "--set", "memory.latency=3"], "--set: changes a machine"),
        (["fit", "no.csv", "--x", "x"], "no.csv"),
        (["fit", "no.csv"], "either x or an equation"),
    ],
)
def test_wrong_words_are_refused_in_one_line(command, words, said):
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
