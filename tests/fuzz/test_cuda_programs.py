"""Whole CUDA programs that call the runtime in any order, with anything: each ends with its answer, or one line."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from simtmm.__main__ import main
from tests.cuda.compilers.conftest import needs_ptxas
from tests.examples import examples
from tests.fuzz.bounds import bounded, check_line

CALLS = Path(__file__).parent / "calls.cu"
NUMBERS = [
    0, 1, 2, 3, 4, 8, 32, 64, 100, 1024, 1025, 4096, 65536, -1, 2**31 - 1,
    2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63),
]  # fmt: skip
FIRST = [[0, 0, 4096, 0], [0, 1, 4096, 0], [9, 0, 0, 0], [11, 0, 0, 0], [11, 1, 0, 0]]  # memory, a stream, events


@needs_ptxas
@examples(4, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from([0, 2, 5]),
    st.lists(st.tuples(st.integers(0, 28), *[st.sampled_from(NUMBERS)] * 3), min_size=1, max_size=8),
)
def test_calls_in_any_order_end_in_an_answer_or_one_line(monkeypatch, capfd, first, calls):
    words = [str(number) for each in (*FIRST[:first], *calls) for number in each]
    monkeypatch.setattr("sys.argv", ["simtmm", "record", str(CALLS), "-o", "/dev/null", "--", *words])
    with bounded(), pytest.raises(SystemExit) as caught:
        main()
    _, err = capfd.readouterr()
    assert caught.value.code in (0, 2)
    assert "Traceback" not in err
    said = [line.removeprefix("simtmm: error: ") for line in err.splitlines() if line.startswith("simtmm: error: ")]
    assert said or caught.value.code == 0  # what a call was given that is wrong, too, in a program that goes on
    for line in said:
        check_line(line)
