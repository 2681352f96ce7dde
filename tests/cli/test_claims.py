"""`simtmm paper claims`."""

import json

import pytest

from simtmm.validation.claims import BAND, VERDICTS, known_claims

CLAIMS = known_claims()


def test_the_verb_has_a_line_for_each_claim(called):
    status, out, _ = called("paper", "claims")
    assert status == 0
    lines = out.splitlines()
    for name, claim in CLAIMS.items():
        (line,) = (line for line in lines if line.split(" ")[0] == name)
        assert line.rstrip().endswith(claim.known)
    counted = [each.split() for each in lines[-2].split(", ")]
    assert sum(int(count) for count, _ in counted) == len(CLAIMS)
    assert [verdict for _, verdict in counted] == list(VERDICTS)


def test_the_document_has_all_claims_and_the_points_of_one_alone(called):
    document = json.loads(called("paper", "claims", "--json")[1])
    assert [each["name"] for each in document["claims"]] == list(CLAIMS)
    assert sum(document["verdicts"].values()) == len(CLAIMS)
    assert all("points" not in (each["band"] or {}) for each in document["claims"])
    one = json.loads(called("paper", "claims", "rehman.stride_copy", "--json")[1])
    assert one["known_by"] == BAND
    assert len(one["band"]["points"]) == 36
    assert one["band"]["points"][0].keys() == {"values", "outcome", "holds"}


def test_one_claim_says_at_which_values_it_holds(called):
    status, out, _ = called("paper", "claims", "rehman.stride_copy")
    assert status == 0
    band = CLAIMS["rehman.stride_copy"].band
    held = sum(point.holds for point in band.points.points if point.values[0] == 4096)
    assert f"4096: {held} of 9; " in out
    assert " holds" in called("paper", "claims", "rehman.stride_copy", "--points")[1].splitlines()[-4]


def test_a_band_is_drawn_without_simulating(called, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "band.svg"
    assert called("paper", "claims", "rehman.stride_copy", "--picture", str(path))[0] == 0
    assert "elements" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--points",), "--points: is of one claim: name it"),
        (("tmm.fig4.6", "--points"), "claim 'tmm.fig4.6': has no band, so there are no points: the latency alone"),
        (("tmm.fig4.66",), "claim 'tmm.fig4.66': unknown"),
        (("rehman.stride_copy", "--picture", "x.txt"), "x.txt"),
    ],
)  # fmt: skip
def test_what_can_not_be_shown_is_refused_in_a_line(called, words, said):
    status, _, err = called("paper", "claims", *words)
    assert status == 2
    assert said in err
    assert len(err.splitlines()) == 1
