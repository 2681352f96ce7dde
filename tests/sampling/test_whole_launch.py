"""A launch of long blocks, of its paces at first and later: its ticks and their interval, by formulas written here."""

from math import ceil, hypot
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.sampling.interval import half_width
from simtmm.sampling.long.steady import PACES, _whole

STEP = np.arange(PACES) / PACES
BEGUN, LATER = 2.0 + STEP, 3.0 + 0.25 * STEP**2  # ticks an instruction


@pytest.mark.parametrize("waves", [0.5, 1.0, 2.25, 3.0])
@pytest.mark.parametrize(("at_first", "unknown"), [(0.0, 0.0), (0.3, 0.1), (1.0, 0.0), (0.5, 0.5)])
def test_each_part_goes_at_its_own_pace_and_its_spread_is_its_own(waves, at_first, unknown):
    issued = 1_000.0
    found = _whole(SimpleNamespace(paces=BEGUN), SimpleNamespace(paces=LATER), issued, waves, at_first, unknown)
    ticks = issued * (at_first * BEGUN.mean() + (1 - at_first) * LATER.mean())
    each = [half_width(paces, np.full(PACES, issued / PACES)) for paces in (BEGUN, LATER)]
    assert all(half > 0 for half in each)
    half = hypot(at_first * each[0], (1 - at_first) * each[1]) + unknown * (LATER.mean() - BEGUN.mean()) * issued
    last = ticks / waves * (ceil(waves) - waves) if waves > 1 else 0.0  # what the last wave lacks of a full one
    assert found == pytest.approx((ticks + last / 2, half + last / 2), rel=1e-12)
