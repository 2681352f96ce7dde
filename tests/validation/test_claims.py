"""Claims: every published item has a verdict and a command that is there, and the page lists them."""

import shlex
import tomllib
from pathlib import Path

import pytest

from simtmm.__main__ import main  # noqa: F401  (the commands' module must import)
from simtmm.cli import app
from simtmm.errors import StudyError
from simtmm.model.applications.catalogue import EQUATIONS
from simtmm.validation.cases import REPRODUCTIONS
from simtmm.validation.claims import BAND, PARTS, SIMULATION, VERDICTS, WAYS, Claim, find_claim, known_claims
from simtmm.validation.claims.page import PAGE, page
from simtmm.validation.figures import ITEMS

ROOT = Path(__file__).parents[2]
CLAIMS = known_claims()
COMMANDS = {command.name or command.callback.__name__ for command in app().registered_commands}


def test_every_published_item_is_claimed():
    items = tomllib.loads((ROOT / "tests" / "golden" / "published.toml").read_text(encoding="utf-8"))
    named = {name for claim in CLAIMS.values() for name in claim.of}
    assert set(items) - named == set()
    assert named - set(items) == set()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_has_a_verdict_and_a_command_that_is_there(claim):
    assert claim.text
    assert claim.verdict.split(",")[0].split(";")[0].split()[0] in VERDICTS
    assert claim.part in PARTS
    assert claim.known in WAYS
    assert claim.found or claim.band
    program, verb, *rest = shlex.split(claim.command)
    if program == "python":
        assert (ROOT / rest[1]).is_file()
        return
    if rest and f"{verb} {rest[0]}" in COMMANDS:
        verb, rest = f"{verb} {rest[0]}", rest[1:]
    assert verb in COMMANDS
    if verb == "paper reproduce":
        assert all(name in REPRODUCTIONS or ITEMS[name].makes for name in rest)
    if verb == "paper equation":
        assert rest[0] in EQUATIONS


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_what_a_simulation_decides_has_a_band_or_says_why_not(claim):
    assert (claim.known == BAND) == (claim.band is not None)
    assert bool(claim.no_band) == (claim.known == SIMULATION)


def test_the_page_is_made_of_the_claims():
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page()


def test_a_band_decides_where_nothing_else_does():
    assert find_claim("rehman.ordered_vs_random").verdict == "fails"
    assert find_claim("tmm.fig4.10").verdict.startswith("holds, of the model; simulated: depends on k, letters, m")


def test_a_claim_without_words_is_named_by_what_is_published():
    assert Claim("a", "ma", "holds", "input", "", "simtmm machines gtx480", of=("x", "y")).text == "x, y"


def test_an_unknown_claim_is_refused():
    with pytest.raises(StudyError, match=r"claim 'tmm.fig4.11': unknown"):
        find_claim("tmm.fig4.11")
