"""The time of an algorithm on a machine."""

import pytest

from simtmm.errors import ModelError
from simtmm.machine import load_machine
from simtmm.model.algorithms import find
from simtmm.model.algorithms.machine_letters import letters_of
from simtmm.model.algorithms.times import predict_algorithm

GTX_480 = load_machine("gtx480")  # P 480, Q 32, L 512, C 32, X 48, Z 12288 words
CRAY_XMT = load_machine("cray-xmt")


def test_the_letters_of_a_machine():
    assert letters_of(GTX_480) == {"P": 480, "Q": 32, "L": 512, "C": 32, "X": 48, "Z": 12288}
    assert letters_of(CRAY_XMT) == {"P": 128, "Q": 1, "L": 364, "C": 1, "X": 128}


def test_terms_and_bound_by_hand():
    predictions = predict_algorithm(find("list-ranking"), GTX_480, {"n": 2**20})
    assert predictions["pram"].terms == {"compute": 2**20 * 20 / 480, "span": 20}
    assert predictions["tmm"].terms == {
        "compute": 2**20 * 20 / 480,
        "span": 20,
        "memory": 2**20 * 20 * 512 / (48 * 480),
    }
    assert (predictions["pram"].bound, predictions["tmm"].bound) == ("compute", "memory")
    assert predictions["tmm"].cycles == 2**20 * 20 * 512 / (48 * 480)
    assert predictions["tmm"].seconds == predictions["tmm"].cycles / 1.401e9
    symbols = predictions["tmm"].symbols
    assert (symbols["n"], symbols["T"], symbols["T1"], symbols["Tinf"]) == (2**20, 48, 2**20 * 20, 20)
    assert predictions["tmm"].source == find("list-ranking").form().source


def test_threads_are_at_most_what_the_machine_holds():
    many = {"n": 2**20}
    assert predict_algorithm(find("list-ranking"), GTX_480, many)["tmm"].symbols["T"] == 48  # X
    little = GTX_480.replace({"resources.shared_memory": 4096})
    assert predict_algorithm(find("list-ranking"), little, many)["tmm"].symbols["T"] == 32  # Z / (Q S), Z = 1024 words


def test_tmm_core_threads_are_at_most_what_the_algorithm_feeds():
    few = predict_algorithm(find("list-ranking"), GTX_480, {"n": 960})["tmm"]
    assert few.symbols["T"] == 2  # n / P, a thread a node
    assert few.cycles == pytest.approx(few.symbols["Tinf"] * 512, rel=1e-14)  # lg n L; rounded in another order
    product = predict_algorithm(find("matrix-multiplication"), GTX_480, {"n": 48})["tmm"]
    assert product.symbols["T"] == 48**2 / 480  # T1 / (Tinf P)


@pytest.mark.parametrize("name", ["suffix-tree", "suffix-array", "list-ranking"])
@pytest.mark.parametrize("n", [10, 1e4, 1e6])
def test_the_default_threads_make_the_refined_equation(name, n):
    """M L / (T P) with T = min(X, n / P) is the larger of the two last terms of Eq (4.29), (4.30), (4.36)."""
    parameters = {symbol.name: {"n": n}.get(symbol.name, 64.0) for symbol in find(name).symbols}
    formula = find(name).refined()
    known = letters_of(GTX_480) | parameters
    refined = formula.evaluate(**{symbol.name: known[symbol.name] for symbol in formula.symbols})
    assert predict_algorithm(find(name), GTX_480, parameters)["tmm"].cycles == pytest.approx(
        float(refined.total),
        rel=1e-14,  # rounded in another order
    )


def test_threads_may_be_given():
    result = predict_algorithm(find("list-ranking"), GTX_480, {"n": 2**20}, threads_per_core=8)["tmm"]
    assert result.terms["memory"] == 2**20 * 20 * 512 / (8 * 480)


@pytest.mark.parametrize(
    ("threads", "message"),
    [
        (49, r"^list-ranking: T = 49: must be at most 48 \(limit: threads per core\)$"),
        (0, r"T = 0: must be above 0"),
        (float("nan"), r"T = nan: must be above 0"),
    ],
)
def test_threads_that_a_machine_cannot_hold_are_refused(threads, message):
    with pytest.raises(ModelError, match=message):
        predict_algorithm(find("list-ranking"), GTX_480, {"n": 100}, threads_per_core=threads)


def test_shared_memory_that_is_not_there_is_refused_by_name_where_it_is_needed():
    with pytest.raises(ModelError, match=r"^merge-sort .*: Z: machine Cray XMT has no shared memory"):
        predict_algorithm(find("merge-sort"), CRAY_XMT, {"n": 2**20})
    assert predict_algorithm(find("list-ranking"), CRAY_XMT, {"n": 2**20})["tmm"].symbols["T"] == 128
    assert predict_algorithm(find("matrix-multiplication"), CRAY_XMT, {"n": 99}, variant="unblocked")


def test_the_sub_block_is_the_root_of_the_shared_memory_unless_it_is_given():
    algorithm, parameters = find("apsp-dynamic-programming"), {"n": 8192}
    root = predict_algorithm(algorithm, GTX_480, parameters, threads_per_core=8)["tmm"]
    assert root.terms["memory"] == pytest.approx(8192**3 * 13 * 512 / (12288**0.5 * 32 * 8 * 480), rel=1e-14)
    given = predict_algorithm(algorithm, GTX_480, parameters | {"S_D": 64}, threads_per_core=8)["tmm"]
    assert given.terms["memory"] == 8192**3 * 13 * 512 / (64 * 32 * 8 * 480)
    assert "S_D" in given.symbols
    assert "S_D" not in root.symbols


@pytest.mark.parametrize("name", ["apsp-dynamic-programming", "matrix-multiplication"])
def test_a_sub_block_must_fit_shared_memory(name):
    """Of S_D by S_D words: section 4.1.1."""
    little = GTX_480.replace({"resources.shared_memory": 4 * 64**2})
    assert predict_algorithm(find(name), little, {"n": 99, "S_D": 64})
    with pytest.raises(ModelError, match=rf"^{name}: S_D = 64.1: must be at most sqrt\(Z\) = 64$"):
        predict_algorithm(find(name), little, {"n": 99, "S_D": 64.1})
    with pytest.raises(ModelError, match=rf"^{name}: S_D = 8: Z: the machine has no shared memory"):
        predict_algorithm(find(name), CRAY_XMT, {"n": 99, "S_D": 8})


def test_without_sub_blocks_their_size_may_be_any():
    assert predict_algorithm(find("matrix-multiplication"), CRAY_XMT, {"n": 99, "S_D": 1e9}, variant="unblocked")


def test_a_parameter_that_a_form_does_not_use_may_be_given_and_must_be_in_its_domain():
    tree = find("suffix-tree")
    with_m = predict_algorithm(tree, GTX_480, {"n": 10, "k": 5, "m": 1e7})["tmm"]
    assert with_m.terms == predict_algorithm(tree, GTX_480, {"n": 10, "k": 5})["tmm"].terms
    with pytest.raises(ModelError, match=r"^suffix-tree: m = 1: must be at least 2 \(length of the text\)$"):
        predict_algorithm(tree, GTX_480, {"n": 10, "k": 5, "m": 1})


@pytest.mark.parametrize(
    ("name", "parameters", "variant", "message"),
    [
        ("fft", {"n": 8}, None, r"^fft: n: unknown"),
        ("fft", {}, None, r"^fft .*: N: must be given"),
        ("fft", {"N": 0.5}, None, r"^fft: N = 0.5: must be at least 1 \(points\)$"),
        ("fft", {"N": float("nan")}, None, r"^fft: N = nan: must be at least 1"),
        ("fft", {"N": 8}, "mend", r"^fft: variant 'mend': unknown; did you mean 'mended'\?$"),
        ("merge-sort", {"n": 12288}, None, r"^merge-sort: n = 12288: must be above Z = 12288$"),
        ("apsp-johnson-array", {"n": 12288, "m": 5}, "vertices-fit", r"n = 12288: must be below Z = 12288$"),
        ("apsp-bellman-ford", {"n": 9, "m": 184321}, "edges-fit", r"m = 184321: must be at most P Z / Q = 184320$"),
        ("hashing", {"n": 9, "m": 12289}, "local", r"m = 12289: must be at most Z = 12288$"),
        ("bloom-filter", dict.fromkeys(("n", "k", "Q_s", "n_sub"), 9) | {"m": 393217}, None, r"32 Z bits = 393216$"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(name, parameters, variant, message):
    with pytest.raises(ModelError, match=message):
        predict_algorithm(find(name), GTX_480, parameters, variant=variant)


def test_what_needs_hold_at_their_limits():
    assert predict_algorithm(find("merge-sort"), GTX_480, {"n": 12289})
    assert predict_algorithm(find("apsp-bellman-ford"), GTX_480, {"n": 9, "m": 184320}, variant="edges-fit")
    assert predict_algorithm(find("hashing"), GTX_480, {"n": 9, "m": 12288}, variant="local")


def test_a_list_of_one_node_takes_no_time():
    predictions = predict_algorithm(find("list-ranking"), GTX_480, {"n": 1})
    assert (predictions["pram"].cycles, predictions["tmm"].cycles) == (0, 0)


def test_the_mended_variant_waits_for_each_step():
    printed = predict_algorithm(find("fft"), GTX_480, {"N": 1024})["tmm"]
    mended = predict_algorithm(find("fft"), GTX_480, {"N": 1024}, variant="mended")["tmm"]
    assert printed.cycles == 10 * 512 / 32  # lg N L / C
    assert (mended.cycles, mended.bound) == (10 * 512, "chain")
    assert mended.model == "fft (TMM, mended)"
