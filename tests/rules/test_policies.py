"""Replacement policies: their promises, wrong ones that are caught, and what both engines' caches do."""

import random
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import SimtmmError
from simtmm.replacement import POLICIES, CacheSet, first_in_first_out, least_recently_used, random_line, two_queues
from simtmm.testing import BrokenPromiseError, check_policy
from simtmm.testing.policy_laws import POLICY_LAWS, POLICY_PROMISES, fewest_misses
from tests.examples import DAILY, examples

LONG_DRAWS = 10**4  # of each policy, shared among its promises


def most_recently_used(lines, chunk):
    return max(lines, key=lambda line: line.used)


def second_least_recent(lines, chunk):
    return sorted(lines, key=lambda line: line.used)[1]


def least_often_used(lines, chunk):
    return min(lines, key=lambda line: (line.uses, line.used))


def lowest_chunk(lines, chunk):
    return min(lines, key=lambda line: line.chunk)


def newest(lines, chunk):
    return lines[-1]


def lottery(lines, chunk):
    return random.choice(lines)


DROPS = count()


def by_what_was_dropped_before(lines, chunk):
    return lines[next(DROPS) % len(lines)]


def reused_first(lines, chunk):
    return max(lines, key=lambda line: (line.uses, line.used))


WRONG = [
    (most_recently_used, "keeps_latest"),
    (most_recently_used, "competitive"),
    (second_least_recent, "drops_least_recent"),
    (least_often_used, "drops_least_recent"),
    (least_often_used, "keeps_latest"),
    (lowest_chunk, "drops_first_come"),
    (newest, "drops_first_come"),
    (newest, "keeps_latest"),
    (first_in_first_out, "inclusion"),  # Belady's anomaly
    (first_in_first_out, "keeps_latest"),
    (random_line, "inclusion"),
    (least_recently_used, "spares_reused"),
    (two_queues, "drops_least_recent"),
    (reused_first, "spares_reused"),
    (lottery, "same_drops"),
    (by_what_was_dropped_before, "same_drops"),
]


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_keeps_its_promises(name):
    laws = POLICY_PROMISES[name]
    check_policy(POLICIES[name], laws, draws=LONG_DRAWS // len(laws) if settings().max_examples > DAILY else 100)


@pytest.mark.parametrize(("policy", "promise"), WRONG, ids=lambda each: getattr(each, "__name__", each))
def test_a_wrong_policy_is_caught(policy, promise):
    for seed in range(1, 6):
        with pytest.raises(BrokenPromiseError, match=f"^policy {policy.__name__} breaks {promise}: "):
            check_policy(policy, [promise], seed=seed)


def test_one_that_knows_what_comes_is_caught():
    """It looks at the case that is drawn, as a policy with an oracle does."""
    seen = []

    class Oracle:
        def __init__(self):
            seen.append(self)

        def __call__(self, lines, chunk):
            return lines[len(seen) % 2]  # other in the second run, which has another future

    with pytest.raises(BrokenPromiseError, match=r"^policy Oracle breaks no_future: "):
        check_policy(Oracle, ["no_future"])


def test_the_counter_example_is_a_table_of_accesses():
    with pytest.raises(BrokenPromiseError) as caught:
        check_policy(most_recently_used, ["keeps_latest"])
    assert str(caught.value) == (
        "policy most_recently_used breaks keeps_latest: chunk 1 was dropped instead of 0: the other was accessed just "
        "before\na set of 2 ways\naccess  chunk  lines\n     0      0         miss\n     1      1  0      miss\n"
        "     2      2  0 1    miss, drops 1"
    )


def test_laws_state_formulas_and_policies_promise():
    assert all("Formula: " in law.__doc__ for law in POLICY_LAWS.values())
    assert set(POLICY_PROMISES) == set(POLICIES)


@pytest.mark.parametrize(
    ("chunks", "ways", "misses"), [([0, 1, 2, 0, 1, 2], 2, 4), ([0, 1, 0, 2, 0, 1], 2, 4), ([], 3, 0)]
)
def test_belady_has_the_fewest_misses(chunks, ways, misses):
    assert fewest_misses(chunks, ways) == misses


@examples(100)
@given(chunks=st.lists(st.integers(0, 5), max_size=14), ways=st.integers(1, 3))
def test_no_policy_misses_less_than_belady(chunks, ways):
    for policy in POLICIES.values():
        cache = CacheSet(policy, ways)
        assert sum(not cache.access(chunk) for chunk in chunks) >= fewest_misses(chunks, ways)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_engines_l1_is_least_recently_used(engine):
    @examples(40)
    @given(chunks=st.lists(st.integers(0, 5), min_size=1, max_size=20), ways=st.integers(1, 3))
    def same(chunks, ways):
        machine = Machine.from_dict(
            {
                "name": "cached",
                "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
                "memory": {"latency": 9, "chunk_words": 8, "l1": {"sets": 1, "ways": ways, "latency": 1}},
            }
        )
        loads = Workload.from_dict({"blocks": [{"warps": [[["load", [chunk]] for chunk in chunks]]}]})
        cache = CacheSet(least_recently_used, ways)
        assert simulate(machine, loads, engine).l1_hits == sum(cache.access(chunk) for chunk in chunks)

    same()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"promises": []}, "promises: must have at least one of drops_least_recent, "),
        ({"promises": [check_policy]}, "promises: .*: must be a law or its name; "),
        ({"promises": ["inclusion"], "seed": True}, "seed = True: must be a whole number of at least 0"),
        ({"promises": ["lru"]}, "promise 'lru': unknown; "),
        ({"promises": ["inclusion"], "draws": 0}, "draws = 0: must be a whole number from 1 to 1000000"),
    ],
)
def test_what_check_policy_does_not_take_is_named(arguments, said):
    with pytest.raises(SimtmmError, match=f"^{said}"):
        check_policy(least_recently_used, **arguments)


def test_what_is_no_line_is_named():
    with pytest.raises(SimtmmError, match=r"^policy rule: returned 3 at access 2: must be a line of the set$"):
        check_policy_of_three()


def check_policy_of_three():
    def rule(lines, chunk):
        return 3

    cache = CacheSet(rule, 2)
    for chunk in range(3):
        cache.access(chunk)
