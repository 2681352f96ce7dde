"""The sublists of random lists in list-ranking-helman-jaja, against their distribution.

The p - 1 splitters behind the head cut a random list of n nodes at random places. So sublists have the mean m = n / p,
are geometric in the limit, and the longest of p has E[max] = m (ln p + 0.5772) with a standard deviation of
m pi / sqrt(6) (Gumbel). The thesis (001 section 4.3) reports the longest and the singletons for 8 M nodes.
"""

from math import log, pi, sqrt

import numpy as np
import pytest

from simtmm.kernel import load_kernel

EULER = 0.5772
KERNEL = load_kernel("list-ranking-helman-jaja")
NODES = 1 << 16
SEEDS = range(16)
RULES = ("n/log n", "n/(2 log^2 n)")


def lengths(rule, seed):
    """The lengths of the sublists of the first iteration, by walking the list from its head."""
    parameters = KERNEL.resolve({"n": NODES, "splitters": rule, "seed": seed})
    successor = KERNEL.inputs(parameters)["successor0"].tolist()
    interval = KERNEL.host.interval(NODES, rule)
    begins = []
    node = 0
    for place in range(NODES):
        if node % interval == 0:
            begins.append(place)
        node = successor[node]
    return np.diff([*begins, NODES])


def expected_maximum(interval, sublists):
    return interval * (log(sublists) + EULER)


@pytest.fixture(scope="module", params=RULES)
def sampled(request):
    """The interval m, the number p of sublists, and their lengths for each seed."""
    interval = KERNEL.host.interval(NODES, request.param)
    return interval, -(-NODES // interval), [lengths(request.param, seed) for seed in SEEDS]


def test_the_mean_sublist_is_as_long_as_the_interval_of_the_splitters(sampled):
    interval, sublists, samples = sampled
    assert NODES % interval == 0  # so the mean is exact: all nodes, over all splitters
    assert [(len(sample), sample.mean()) for sample in samples] == [(sublists, interval)] * len(SEEDS)


def test_the_longest_sublist_agrees_with_a_geometric_distribution(sampled):
    interval, sublists, samples = sampled
    found = np.mean([sample.max() for sample in samples])
    # Four standard errors; and whole nodes: -1 / ln(1 - 1/m) is m - 1/2, so each of the ln p + 0.5772 counts 1/2 less.
    tolerance = 4 * interval * pi / sqrt(6 * len(SEEDS)) + (log(sublists) + EULER) / 2
    assert found == pytest.approx(expected_maximum(interval, sublists), abs=tolerance)


def test_singletons_are_as_many_as_a_geometric_distribution_has(sampled):
    interval, sublists, samples = sampled
    found = sum(np.count_nonzero(sample == 1) for sample in samples)
    expected = len(SEEDS) * sublists / interval  # a sublist ends behind its first node with probability p / n
    assert found == pytest.approx(expected, abs=4 * sqrt(expected))  # four standard deviations of a count


@pytest.mark.parametrize(
    ("rule", "maximum", "singletons", "observed"),
    [(RULES[0], 308, 15857, 350), (RULES[1], 10110, 7.5, 10_000)],
)
def test_the_distribution_gives_what_the_thesis_saw_in_8_million_nodes(rule, maximum, singletons, observed):
    nodes = 1 << 23
    interval = KERNEL.host.interval(nodes, rule)
    sublists = -(-nodes // interval)
    assert expected_maximum(interval, sublists) == pytest.approx(maximum, abs=0.5)  # printed as whole numbers
    assert sublists / interval == pytest.approx(singletons, rel=0.005)  # 7.5 has two digits: half of the last is 0.7 %
    assert expected_maximum(interval, sublists) == pytest.approx(observed, abs=2 * interval * pi / sqrt(6))


def test_equidistant_splitters_give_sublists_of_one_length():
    """Section 4.4.2 of the thesis: load is balanced, and the list lies at random all the same."""
    parameters = KERNEL.resolve({"n": NODES, "order": "equidistant"})
    successor = KERNEL.inputs(parameters)["successor0"].tolist()
    interval = KERNEL.host.interval(NODES, RULES[0])
    node, begins, neighbours = 0, [], 0
    for place in range(NODES):
        if node % interval == 0:
            begins.append(place)
        neighbours += successor[node] == node + 1
        node = successor[node]
    assert set(np.diff([*begins, NODES]).tolist()) == {interval}
    assert neighbours < 10
