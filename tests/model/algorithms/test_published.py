"""What the dissertation reports of its algorithms, where a closed form decides it. Each test names its item."""

from math import e, log, log2, sqrt

import numpy as np
import pytest

from simtmm.machine import load_machine
from simtmm.model.algorithms import find
from simtmm.model.algorithms.machine_letters import letters_of
from simtmm.model.algorithms.regimes import crossover, regimes
from simtmm.model.algorithms.speedup import speedup_bounds, threads_for_linear_speedup

ROUNDED = {"rel": 1e-12}  # logarithms and products in another order
GTX_280, GTX_480 = letters_of(load_machine("gtx280")), letters_of(load_machine("gtx480"))
GTX_580 = {"P": 512, "L": 100, "C": 32, "X": 48}  # section 4.2.3, footnote 7
DYNAMIC, JOHNSON = find("apsp-dynamic-programming"), find("apsp-johnson-array")
WINS_DYNAMIC, WINS_JOHNSON = "apsp-dynamic-programming (TMM)", "apsp-johnson-array (TMM)"


def of(formula, known):
    """Those of the values that the formula has symbols for."""
    return {symbol.name: known[symbol.name] for symbol in formula.symbols if symbol.name in known}


def counts(algorithm, **known):
    formula = algorithm.counts(given=tuple(known))
    return {name: float(term) for name, term in formula.evaluate(**of(formula, GTX_480 | known)).terms.items()}


def threads_to_hide(algorithm, latency, **known):
    result = counts(algorithm, **known)
    return threads_for_linear_speedup(result["T1"], result["M"], latency)


# The dynamic program: threads and sub-blocks


@pytest.mark.parametrize("vertices", [2048, 4096, 8192, 16384])
def test_tmm_threshold_SD64_is_8_threads_whatever_the_size(vertices):  # noqa: N802 - the item's id
    """Fig 4.1, at L = 512 cycles with C = 1; with C = 32 the same threshold needs L = 16,384."""
    assert threads_to_hide(DYNAMIC, 512, n=vertices, S_D=64, C=1) == pytest.approx(8, **ROUNDED)
    assert threads_to_hide(DYNAMIC, 16384, n=vertices, S_D=64, C=32) == pytest.approx(8, **ROUNDED)


@pytest.mark.parametrize("vertices", [2048, 16384])
def test_tmm_threshold_SD64_speedup_rises_linearly_to_it_and_not_beyond(vertices):  # noqa: N802
    formula = DYNAMIC.tmm(given=("S_D",))
    threads = np.array([2.0, 4, 8, 16, 32])
    times = formula.evaluate(n=vertices, S_D=64, C=1, L=512, P=480, T=threads).total
    assert times[0] / times == pytest.approx(np.array([1, 2, 4, 4, 4]), **ROUNDED)


@pytest.mark.parametrize(("sub_block", "threads"), [(64, 8), (32, 16), (16, 32)])
def test_tmm_threshold_by_SD(sub_block, threads):  # noqa: N802
    """Fig 6.3: T S_D = L / C in all three curves."""
    assert threads_to_hide(DYNAMIC, 512, n=8192, S_D=sub_block, C=1) == pytest.approx(threads, **ROUNDED)
    assert threads * sub_block == 512


def test_tmm_fig4_4_fig4_5_ratio_and_difference_do_not_both_stay_constant():
    """Eq (4.7) has a difference that grows with T and a ratio of 2 below both thresholds, neither above them."""
    threads = np.array([2.0, 4, 8, 10, 12.8, 16, 24, 32])
    one, other = (
        np.minimum(*(bounds[name] for name in ("compute", "memory")))
        for sub_block in (64, 32)
        for result in [counts(DYNAMIC, n=16384, S_D=sub_block, C=1)]
        for bounds in [speedup_bounds(result["T1"], result["Tinf"], result["M"], threads, 480, 512)]
    )
    assert one / other == pytest.approx(np.array([2, 2, 2, 1.6, 1.25, 1, 1, 1]), **ROUNDED)  # printed: constant
    below = threads <= 8
    slope = (64 - 32) * 480 / 512  # (S_D1 - S_D2) T, as printed, times P / L
    assert (one - other)[below] == pytest.approx(slope * threads[below], **ROUNDED)
    assert (one - other)[threads >= 16] == pytest.approx(0, abs=1e-9)  # printed: constant above 0


def test_tmm_fig4_6_three_sub_blocks_fill_the_shared_memory():
    printed = {3: 16, 12: 32, 48: 64}  # KB of shared memory, S_D
    assert {kilobytes: sqrt(kilobytes * 1024 / 4 / 3) for kilobytes in printed} == printed


def test_tmm_fig4_6_one_sub_block_of_3_kb_feeds_8_and_1_3_threads():
    threads = 16 * 16  # a thread for each element
    assert threads / load_machine("gtx480").cores.cores_per_group == 8
    assert threads / 192 == pytest.approx(1.3, abs=0.05)  # the GTX 680's 192 cores; printed with one decimal


def test_tmm_fig4_6_the_gtx_480_is_flat_from_16_threads_on_with_12_and_48_kb():
    needed = {sub_block: threads_to_hide(DYNAMIC, 512, n=8192, S_D=sub_block, C=1) for sub_block in (16, 32, 64)}
    assert needed[32] == pytest.approx(16, **ROUNDED)  # 12 KB
    assert needed[64] <= 16  # 48 KB; printed as "more than 16" too, and as 8 in Fig 4.1
    assert needed[16] > 8  # 3 KB: more than its one sub-block feeds, so that line ends while it rises
    assert max(needed.values()) < GTX_480["X"]


def test_tmm_fig4_6_the_gtx_680_holds_10_7_threads_and_hides_no_more_than_they_do():
    """Its L is not printed. A curve that still climbs at 10.7 threads with 12 KB says L / C above 341."""
    most = 2048 / 192
    assert most == pytest.approx(10.7, abs=0.05)  # printed with one decimal
    assert (
        threads_to_hide(DYNAMIC, 342, n=8192, S_D=32, C=1) > most > threads_to_hide(DYNAMIC, 341, n=8192, S_D=32, C=1)
    )


# Johnson with arrays, and against the dynamic program


def test_tmm_johnson_noflat_needs_more_threads_than_the_dynamic_program():
    """Fig 4.2: L / C threads against L / (sqrt(Z) C), and L m / n^2 for a dense graph, above the 32 that were tried."""
    sparse, dense = (threads_to_hide(JOHNSON, 512, n=8192, m=edges) for edges in (32768, 33554432))
    assert sparse == pytest.approx(512 / 32, **ROUNDED)
    assert dense == pytest.approx(512 * 33554432 / 8192**2, **ROUNDED)
    assert dense == 256
    assert dense > 32
    assert threads_to_hide(DYNAMIC, 512, n=8192) == pytest.approx(512 / (sqrt(12288) * 32), **ROUNDED)


def test_tmm_johnson_noflat_sparse_graphs_do_flatten_in_the_model_from_16_threads_on():
    """What does not follow: with C = 32, 16 threads hide 512 cycles; no flattening up to 32 needs L / C above 32."""
    formula = JOHNSON.tmm()
    found = regimes(formula, of(formula, GTX_480) | {"n": 8192, "m": 32768}, "T", 1, 48)
    assert [(regime.bound, regime.start) for regime in found] == [("memory", 1), ("compute", 16)]


@pytest.mark.parametrize("threads", [2, 8, 32])
def test_tmm_johnson_noflat_time_is_linear_in_the_edges_of_dense_graphs(threads):
    formula = JOHNSON.tmm()
    edges = np.linspace(8192**2 / 32, 33554432, 50)  # from n^2 / C on, Fig 4.3
    times = formula.evaluate(**of(formula, GTX_480), n=8192, m=edges, T=threads)
    assert times.terms["memory"] == pytest.approx(edges * 8192 * 512 / (threads * 480), **ROUNDED)
    assert (times.bound[times.total > 8192**3 / 480] == "memory").all()


def test_tmm_dp_vs_johnson_where_memory_binds_the_dynamic_program_wins_at_every_density():
    """Eq (4.18)'s max, with lg n = 13 < sqrt(Z) = 110.9: sparse graphs too, unlike section 4.1.5."""
    assert log2(8192) < sqrt(GTX_480["Z"])
    known = GTX_480 | {"n": 8192, "L": 1e6, "T": 8}
    dynamic, johnson = DYNAMIC.tmm(), JOHNSON.tmm()
    values = of(dynamic, known) | of(johnson, known)
    for formula in (dynamic, johnson):
        most = formula.evaluate(**of(formula, known | {"m": 32768}))
        assert most.bound == "memory"
    assert crossover(dynamic, johnson, "m", values, 8191, 33554432).everywhere == WINS_DYNAMIC


@pytest.mark.parametrize("vertices", [2**10, 2**13, 2**40, 2**110])
@pytest.mark.parametrize("degree", [1, 32, 1000])
def test_tmm_dp_vs_johnson_the_memory_terms_alone(vertices, degree):
    """max(n^3 / C, m n) is above n^3 lg n / (sqrt(Z) C) for every m, as long as lg n < sqrt(Z) = 110.9."""
    assert counts(DYNAMIC, n=vertices)["M"] < counts(JOHNSON, n=vertices, m=vertices * degree)["M"]


def test_tmm_dp_vs_johnson_not_beyond_lg_n_of_sqrt_z():
    assert counts(DYNAMIC, n=2**111)["M"] > counts(JOHNSON, n=2**111, m=2**111)["M"]


def test_tmm_dp_vs_johnson_the_printed_min_makes_the_dichotomy_of_the_text():
    """With Eq (4.26)'s min, Johnson wins where m / n < n lg n / (sqrt(Z) C), for any L that binds."""
    known = GTX_480 | {"n": 8192, "L": 1e6, "T": 8}
    dynamic, johnson = DYNAMIC.tmm(), JOHNSON.tmm("printed-4.26")
    found = crossover(dynamic, johnson, "m", of(dynamic, known) | of(johnson, known), 8191, 33554432)
    assert [stretch.winner for stretch in found.stretches] == [johnson.name, WINS_DYNAMIC]
    assert found.points == (pytest.approx(8192**2 * 13 / (sqrt(12288) * 32), **ROUNDED),)


@pytest.mark.parametrize(("threads", "edges"), [(4, 6815744), (8, 13631488), (16, 27262976)])
def test_tmm_dp_vs_johnson_on_the_gtx_480_sparse_graphs_are_johnsons_and_dense_ones_are_not(threads, edges):
    """With the compute term, the dichotomy is there without the min: m n L / T against n^3 lg n."""
    known = GTX_480 | {"n": 8192, "T": threads}
    dynamic, johnson = DYNAMIC.tmm(), JOHNSON.tmm()
    found = crossover(dynamic, johnson, "m", of(dynamic, known) | of(johnson, known), 32768, 33554432)
    assert [stretch.winner for stretch in found.stretches] == [WINS_JOHNSON, WINS_DYNAMIC]
    assert found.points == (pytest.approx(edges, **ROUNDED),)
    assert edges == 8192**2 * 13 * threads / 512


def test_tmm_dp_vs_johnson_the_curves_of_the_dense_graph_cross_between_16_and_32_threads():
    """Fig 4.7: by 32 threads a core Johnson has caught up with a dynamic program that is flat since 16."""
    known = GTX_480 | {"n": 8192, "m": 33554432}
    dynamic, johnson = DYNAMIC.tmm(), JOHNSON.tmm()
    values = of(dynamic, known) | of(johnson, known)
    found = crossover(dynamic, johnson, "T", values, 1, GTX_480["X"])
    assert [stretch.winner for stretch in found.stretches] == [WINS_DYNAMIC, WINS_JOHNSON]
    assert found.points == (pytest.approx(512 * 0.5 / 13, **ROUNDED),)  # m L / (n^2 lg n), 19.7
    sparse = crossover(dynamic, johnson, "T", values | {"m": 32768}, 4, GTX_480["X"])
    assert sparse.everywhere == WINS_JOHNSON


# Suffix tree and array


def queries(name, **known):
    formula = find(name).refined()
    return formula, of(formula, GTX_580 | {"k": 20, "m": 1e7} | known)


def test_tmm_fig4_10_both_are_flat_at_first_and_the_array_is_faster_there():
    (tree, tree_values), (array, array_values) = queries("suffix-tree"), queries("suffix-array")
    few = np.array([1.0, 10, 100, 1600])
    flat_tree, flat_array = tree.evaluate(n=few, **tree_values).total, array.evaluate(n=few, **array_values).total
    assert flat_tree == pytest.approx(np.full(4, 20 * 100), **ROUNDED)  # k L
    assert flat_array / flat_tree == pytest.approx(log2(1e7) / 32, **ROUNDED)  # lg m = 23.3 < C = 32


def test_tmm_fig4_10_the_array_bends_earlier_rises_more_steeply_and_is_overtaken():
    (tree, tree_values), (array, array_values) = queries("suffix-tree"), queries("suffix-array")
    bends = [regimes(formula, values, "n")[1].start for formula, values in ((array, array_values), (tree, tree_values))]
    assert bends == [1600, 24576]
    many = np.array([1e5, 2e5])
    slopes = [
        np.diff(formula.evaluate(n=many, **values).total)[0]
        for formula, values in (queries("suffix-array"), queries("suffix-tree"))
    ]
    assert slopes[0] / slopes[1] == pytest.approx(log2(1e7) * 48 / 100, **ROUNDED)  # lg m X / L = 11.2
    found = crossover(array, tree, "n", array_values)
    assert [stretch.winner for stretch in found.stretches] == [array.name, tree.name]
    assert found.points == (pytest.approx(100 * 512 / log2(1e7), **ROUNDED),)  # L P / lg m = 2202


def test_tmm_suffix_array_fig4_9_has_two_misprints():
    text = "mississippi"
    correct = sorted(range(1, 12), key=lambda start: text[start - 1 :])
    printed = [11, 8, 4, 2, 1, 10, 8, 7, 4, 6, 3]
    assert correct == [11, 8, 5, 2, 1, 10, 9, 7, 4, 6, 3]
    wrong = {
        text[right - 1 :]: (theirs, right) for theirs, right in zip(printed, correct, strict=True) if theirs != right
    }
    assert wrong == {"issippi": (4, 5), "ppi": (8, 9)}


# FFT, merge sort, list ranking: along n and L on a GTX 280 (P 240, C 32, X 128, Z 4096 words, L 500)


@pytest.mark.parametrize(
    ("variant", "points", "bends"),
    [
        ("printed", 128, 32),  # C: a span of lg N binds below
        ("printed", 16384, 16384 * 32 / 240),  # N C / P: above the 500 cycles there are, so flat over the experiment
        ("mended", 128, 1),
        ("mended", 16384, 16384 / 240),  # N / P, 68 cycles
    ],
)
def test_tmm_fft_time_falls_with_the_latency_and_then_stays(variant, points, bends):
    """Fig 4.12: the memory clock is 1 / L."""
    formula = find("fft").refined(variant)
    values = of(formula, GTX_280 | {"N": points})
    del values["L"]
    flat, rising = regimes(formula, values, "L", 0.1, 1e5)
    assert flat.bound in ("compute", "span")
    assert rising.bound == "chain"
    assert rising.start == pytest.approx(bends, **ROUNDED)
    latency = np.array([2.0, 4, 8]) * rising.start
    assert formula.evaluate(**values, L=latency).total / latency == pytest.approx(
        float(formula.evaluate(**values, L=rising.start).total) / rising.start, **ROUNDED
    )


def exponent(formula, values, length):
    """How fast the time grows with n there: d lg T_P / d lg n."""
    nearby = np.array([length, length * (1 + 1e-6)])
    return np.diff(np.log(formula.evaluate(n=nearby, **values).total))[0] / log(1 + 1e-6)


def test_tmm_mergesort_large_sequences_grow_a_little_faster_than_linearly():
    formula = find("merge-sort").refined()
    values = of(formula, GTX_280)
    for length in (1e5, 1e7, 1e9):
        close = {"rel": 1e-4}  # a difference of logarithms over a step of 1e-6
        assert exponent(formula, values, length) == pytest.approx(1 + 1 / log(length / 4096), **close)
    assert 1 < exponent(formula, values, 1e9) < 1.1


def test_tmm_mergesort_small_sequences_grow_slower_than_linearly_where_the_chain_binds():
    """lg(n / Z) grows with exponent 1 / ln(n / Z), below 1 from n = e Z on; here with ten times a GTX 280's L."""
    formula = find("merge-sort").refined("mended")
    values = of(formula, GTX_280 | {"L": 5000})
    small, large = regimes(formula, values, "n", 4097, 1e9)
    assert (small.bound, large.bound) == ("chain", "compute")
    assert small.stop == pytest.approx(5000 * 240 / log2(4096), **ROUNDED)
    assert exponent(formula, values, 0.9 * e * 4096) > 1 > exponent(formula, values, 1.1 * e * 4096)
    assert exponent(formula, values, 0.9 * small.stop) < 0.5


def test_tmm_mergesort_small_sequences_do_not_grow_slower_than_linearly_on_a_gtx_280_with_constants_of_1():
    """Its 500 cycles let the chain bind up to n = L P / lg Z = 10,000, short of e Z = 11,134."""
    formula = find("merge-sort").refined("mended")
    small, _ = regimes(formula, of(formula, GTX_280), "n", 4097, 1e9)
    assert small.stop == pytest.approx(500 * 240 / log2(4096), **ROUNDED)
    assert small.stop < e * 4096
    assert min(exponent(formula, of(formula, GTX_280), length) for length in np.geomspace(4100, 1e9, 50)) > 1


@pytest.mark.parametrize(("length", "latency"), [(4096, 4096 * 12 / 240), (e * 4096, e * 4096 * 12 / 240)])
def test_tmm_mergesort_the_mended_third_term_binds_from_205_cycles_on(length, latency):
    """lg(n / Z) L above n lg Z lg(n / Z) / P: L above n lg Z / P, which is 204.8 for the least n, Z. Slower than linear
    the time grows only from n = e Z on: L above 556.7.
    """
    formula = find("merge-sort").refined("mended")
    values = of(formula, GTX_280 | {"n": length * (1 + 1e-9)})  # n must be above Z
    del values["L"]
    below, above = regimes(formula, values, "L", 1, 1e4)
    assert (below.bound, above.bound) == ("compute", "chain")
    assert above.start == pytest.approx(latency, rel=1e-8)  # the step above Z
    assert (round(4096 * 12 / 240), round(e * 4096 * 12 / 240)) == (205, 557)


def test_tmm_mergesort_eq_4_35_as_printed_never_has_its_third_term_bind_on_a_gtx_280():
    """It would below n = L P / (C lg Z) = 312, which fits shared memory; "for n < X P" does not follow."""
    formula = find("merge-sort").refined()
    (only,) = regimes(formula, of(formula, GTX_280), "n", 4097, 1e12)
    assert only.bound == "compute"
    assert 500 * 240 / (32 * log2(4096)) < 4096


def test_tmm_listrank_is_linear_in_lg_n_below_xp_and_in_n_lg_n_above():
    formula = find("list-ranking").refined()
    values = of(formula, GTX_280)
    few, many = regimes(formula, values, "n", 2)
    assert (few.bound, many.bound) == ("chain", "memory")
    assert few.stop == many.start == GTX_280["X"] * GTX_280["P"] == 30720
    lengths = np.array([2.0, 1024, 30720])
    assert formula.evaluate(n=lengths, **values).total / np.log2(lengths) == pytest.approx(500, **ROUNDED)
    lengths = np.array([30720, 1e6, 1e9])
    assert formula.evaluate(n=lengths, **values).total / (lengths * np.log2(lengths)) == pytest.approx(
        500 / 30720, **ROUNDED
    )


@pytest.mark.parametrize(("latency", "bound", "turns"), [(500, "memory", 128 * 240), (100, "compute", 100 * 240)])
def test_tmm_listrank_what_binds_large_lists_depends_on_latency_and_threads(latency, bound, turns):
    """Section 4.5: L > X, memory beyond X P; L < X, computation beyond L P."""
    formula = find("list-ranking").refined()
    (_, large) = regimes(formula, of(formula, GTX_280 | {"L": latency}), "n", 2)
    assert (large.bound, large.start, large.stop) == (bound, turns, 1e12)


# Architectures, sections 1.1 and 3.1.3


def test_tmm_arch_defs_threads_of_a_threadstorm_system():
    result = letters_of(load_machine("cray-xmt"))
    assert (result["X"], result["Q"], result["C"]) == (128, 1, 1)
    for processors, printed in ((512, 65000), (8192, 1000000)):
        threads = letters_of(load_machine("cray-xmt").replace({"cores.groups": processors}))["P"] * result["X"]
        assert threads == pytest.approx(printed, rel=0.05)  # "over 65,000" and "over a million"
        assert threads > printed


def test_tmm_arch_defs_nvidia_has_chunks_of_32_words():
    assert {letters_of(load_machine(name))["C"] for name in ("gtx280", "gtx480", "a100-80")} == {32}


def test_tmm_arch_defs_a_radeon_hd_5870_as_a_machine():
    """20 engines of 16 thread processors of 5 stream cores; Q, C and Z as section 3.1.3 maps them."""
    tables = {
        "name": "Radeon HD 5870",
        "cores": {"groups": 20, "cores_per_group": 16 * 5, "warp_width": 64, "max_threads_per_core": 32},
        "memory": {"latency": 500, "chunk_words": 64},
        "resources": {"shared_memory": 32 * 1024},
    }
    result = letters_of(type(load_machine("ideal")).from_dict(tables))
    assert (result["P"], result["Q"], result["C"], result["Z"]) == (1600, 80, 64, 8192)
