"""Groups of stores in bulk, and waits for them, as operations (docs/machine.md, section 9)."""

import pytest

from simtmm.trace.schema import STORES_COMMIT, STORES_WAIT
from tests.trace.build import store
from tests.trace.test_compiled import lowered, site

SITES = [site(1, "product"), site(9, "store")]


def told(value):
    return 1, "product", value, 0


@pytest.mark.parametrize("left", [0, 1, 7])
def test_each_commit_ends_a_group_and_each_wait_is_a_drain(left):
    events = [store(9, 0), told(STORES_COMMIT), told(STORES_WAIT + left), store(9, 128)]
    (warp,) = lowered([events], SITES)
    assert [each for each in warp if each[0] in ("store_group", "drain")] == [["store_group"], ["drain", left]]
    assert [each[0] for each in warp].index("drain") < len(warp) - 1
