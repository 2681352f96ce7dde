"""What the papers say without numbers: the shape of a curve, the same predictions again, programs on a Cray XMT."""

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.prediction.equations import evaluate
from simtmm.model.algorithms import find
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.validation.figures import figures
from tests.recorder.conftest import needs_compiler


@needs_compiler
def test_throughput_of_a_bloom_filter_rises_with_threads_and_flattens():
    """By tmm.fig1.1: on both GPUs each doubling of T gains less than the one before, and a knee's place differs."""
    curves = figures(["ma-fig-1.1"], workers=1)["ma-fig-1.1"].curves
    gains = {curve.label: np.diff(np.log2(curve.y)) for curve in curves}
    assert len(gains) == 2
    for gain in gains.values():
        assert (gain > 0).all()
        assert (np.diff(gain) < 0).all()
    c1060, gtx480 = (gain[-1] for gain in gains.values())
    assert c1060 < 0.1 < gtx480


def test_the_first_paper_has_the_knees_of_the_dissertation():
    """By tmm004.conclusion: shortest paths on the GTX 480 need 8, 16 and 32 threads, with one word a transfer."""
    evaluated = evaluate("apsp-threads", {"S_D": [64, 32, 16], "C": [1]}, load_machine("gtx480"))
    assert evaluated.values["T"].tolist() == [8, 16, 32]


@pytest.mark.parametrize(
    ("name", "symbols"),
    [
        ("looped-memory-access", {"n": 2.0**20}),
        ("matrix-multiplication", {"n": 1024.0}),
        ("sequence-alignment", {"n": 4096.0, "m": 4096.0}),
    ],
)
def test_programs_of_the_third_paper_have_a_time_on_a_cray_xmt(name, symbols):
    """By fgcs.scope: loops, matrix products and alignments, whose numbers are not at hand; PRAM is a lower bound."""
    known = {symbol.name for symbol in find(name).symbols}
    given = {key: value for key, value in symbols.items() if key in known}
    plain = next(variant for variant in find(name).forms if variant != "sub-blocks")  # an XMT has no shared memory
    predictions = predict_algorithm(find(name), load_machine("cray-xmt"), given, variant=plain)
    assert 0 < predictions["pram"].cycles <= predictions["tmm"].cycles < np.inf
