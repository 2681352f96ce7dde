"""How sure an estimate is: Student's t, of as many degrees of freedom as there are."""

import pytest
from scipy.stats import t

from simtmm.study.evaluation.estimating import STUDENT


@pytest.mark.parametrize("degrees", range(1, 8))
def test_t_is_that_of_97_and_a_half_per_cent(degrees):
    assert STUDENT[degrees] == pytest.approx(t.ppf(0.975, degrees), abs=0.006)


def test_no_degree_of_freedom_lacks_its_t():
    assert list(STUDENT) == list(range(1, 8))
