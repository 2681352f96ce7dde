"""What the catalogue derives itself, where papers name an algorithm without numbers: counted, in small cases."""

from math import log2

import pytest

from simtmm.machine import load_machine
from simtmm.model.algorithms import find
from simtmm.model.algorithms.times import predict_algorithm
from tests.model.algorithms.printed import same

GTX_480 = load_machine("gtx480")  # P 480


def counts(name, variant=None, **values):
    formula = find(name).counts(variant, given=tuple(values))
    return {part: float(term) for part, term in formula.evaluate(**values).terms.items()}


def threads_fed(name, **values):
    """T P where the algorithm, not the machine, is the limit."""
    return predict_algorithm(find(name), GTX_480, values)["tmm"].symbols["T"] * 480


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 7), (20, 5), (16, 16)])
def test_an_alignment_is_a_table_whose_anti_diagonals_wait_for_one_another(rows, columns):
    diagonals = {}
    for row in range(rows):
        for column in range(columns):
            diagonals.setdefault(row + column, []).append((row, column))
    result = counts("sequence-alignment", n=rows, m=columns, C=1)
    assert result["T1"] == result["M"] == sum(map(len, diagonals.values()))
    assert result["Tinf"] == len(diagonals) + 1
    assert threads_fed("sequence-alignment", n=rows, m=columns) == pytest.approx(max(map(len, diagonals.values())))


@pytest.mark.parametrize(("size", "block", "chunk"), [(16, 4, 1), (32, 8, 4), (32, 32, 8)])
def test_a_product_in_sub_blocks_reads_each_operand_for_each_block_of_the_result(size, block, chunk):
    blocks = size // block
    chunks = sum(block * block // chunk for _ in range(blocks * blocks) for _ in range(blocks))  # of one operand
    result = counts("matrix-multiplication", n=size, S_D=block, C=chunk)
    assert result["M"] == chunks
    assert result["T1"] == size**2 * size  # a result of n^2, n products each
    assert result["Tinf"] == size


def test_a_loop_over_neighbours_moves_a_chunk_for_c_iterations_and_a_scattered_one_a_chunk_each():
    assert counts("looped-memory-access", n=640, C=32)["M"] == len({word // 32 for word in range(640)})
    assert counts("looped-memory-access", "irregular", n=640)["M"] == len({word * 32 // 32 for word in range(640)})


@pytest.mark.parametrize("nodes", [2**16, 2**23, 2**40])
def test_recursive_list_ranking_solves_its_recurrences(nodes):
    """W(n) = W(n / lg n) + n and T(n) = T(n / lg n) + lg n (001, section 4.2), down to two nodes."""
    work = span = 0.0
    left = float(nodes)
    while left > 2:
        work, span, left = work + left, span + log2(left), left / log2(left)
    result = counts("list-ranking-helman-jaja", n=nodes)
    assert result["T1"] <= work < 1.1 * result["T1"]  # the first list is nearly all of it
    assert 0.5 * result["Tinf"] < span < 2 * result["Tinf"]  # the same order, where it could be any
    assert result["M"] == nodes


def test_recursive_list_ranking_feeds_a_thread_a_sublist():
    assert threads_fed("list-ranking-helman-jaja", n=2**16) == pytest.approx(2**16 / 16)


def test_bloom_filters_do_what_eq_5_20_says_and_read_the_database_in_chunks():
    result = find("bloom-filter").counts().expressions
    assert same(result["T1"], "k (Q_s / n_sub) n")
    assert same(result["T1"] / result["M"], "k C")  # k hashes a w-mer, C w-mers a chunk
    assert same(result["Tinf"], "k")


@pytest.mark.parametrize(("name", "variant", "accesses"), [("hashing", "global", 1), ("facs", None, 5)])
def test_tables_in_global_memory_cost_a_transfer_an_access(name, variant, accesses):
    """A word of a large table lies in a chunk of its own; FACS looks up k = 5 bits a w-mer."""
    formula = find(name).counts(variant)
    values = {"n": 1000.0, "k": 5.0}
    evaluated = formula.evaluate(**{symbol.name: values[symbol.name] for symbol in formula.symbols})
    assert evaluated.terms["M"] == evaluated.terms["T1"] == accesses * 1000
