"""The catalogue: what is in it, what its formulas allow, how fast they are, and its page."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

from simtmm.errors import ModelError
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.model.algorithms import ALGORITHMS, catalogue, find, written
from tests.model.algorithms.printed import parse

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
FORMS = [(name, variant) for name, algorithm in ALGORITHMS.items() for variant in algorithm.forms]
# Values at which every form holds: above or below Z as it needs.
MACHINE = {"P": 480, "Q": 32, "L": 512.0, "C": 32, "X": 48.0, "Z": 12288.0, "T": 16.0}
PROBLEM = {"n": 1e5, "m": 1e4, "k": 20.0, "N": 1e5, "Q_s": 1e6, "n_sub": 5e4, "S_D": 64.0}


def values(formula, **changes):
    known = PROBLEM | MACHINE | ({"n": 1e4} if "vertices-fit" in formula.name else {}) | changes
    return {symbol.name: known[symbol.name] for symbol in formula.symbols}


def formulas(name, variant):
    algorithm = ALGORITHMS[name]
    found = [algorithm.counts(variant), algorithm.pram(variant), algorithm.tmm(variant)]
    return found + ([algorithm.refined(variant)] if algorithm.form(variant).threads else [])


def test_the_names():
    assert list(ALGORITHMS) == [
        "apsp-dynamic-programming", "apsp-johnson-heap", "apsp-johnson-array", "apsp-bellman-ford", "suffix-tree",
        "suffix-array", "fft", "merge", "merge-sort", "odd-even-sort", "reduce", "scan", "list-ranking",
        "list-ranking-helman-jaja", "connected-components", "boruvka", "hashing", "bloom-filter", "facs",
        "looped-memory-access", "matrix-multiplication", "sequence-alignment",
    ]  # fmt: skip
    assert all(find(name).name == name and find(name).title for name in ALGORITHMS)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(ModelError, match=r"^algorithm 'merge-sorting': unknown; did you mean 'merge-sort'"):
        find("merge-sorting")


@pytest.mark.parametrize(("name", "variant"), FORMS)
def test_every_form_says_where_it_comes_from(name, variant):
    assert re.search(r"\b00[0-3]\b", find(name).form(variant).source)


@pytest.mark.parametrize(("name", "variant"), FORMS)
def test_values_are_those_of_the_symbols(name, variant):
    """What is computed is what is shown."""
    for formula in formulas(name, variant):
        chosen = values(formula)
        terms = formula.evaluate(**chosen).terms
        for term, expression in formula.expressions.items():
            point = {letter: chosen[str(letter)] for letter in expression.free_symbols}
            exact = float(sympy.N(expression.subs(point)))
            assert terms[term] == pytest.approx(exact, rel=1e-12)  # logarithms, rounded some times


@pytest.mark.parametrize(("name", "variant"), FORMS)
def test_the_tmm_is_never_below_the_pram_where_both_have_one_span(name, variant):
    algorithm = find(name)
    if algorithm.form(variant).pram_span is None:
        tmm, pram = algorithm.tmm(variant), algorithm.pram(variant)
        assert tmm.evaluate(**values(tmm)).total >= pram.evaluate(**values(pram)).total


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if not name.startswith("apsp-johnson-array")])
def test_more_of_anything_takes_no_less_time(name):
    """In each size of the problem, with L; and no more time with more threads, cores or words to a chunk."""
    formula = find(name).tmm()
    base = float(formula.evaluate(**values(formula)).total)
    for symbol in formula.symbols:
        more = float(formula.evaluate(**values(formula, **{symbol.name: values(formula)[symbol.name] * 1.5})).total)
        if symbol.name in ("T", "P", "C", "S_D", "n_sub"):
            assert more <= base, symbol.name
        elif symbol.name not in ("Z", "Q", "X"):
            assert more >= base, symbol.name


def test_a_need_is_checked_in_every_point():
    formula = find("merge-sort").refined()
    points = np.array([2e4, 3e4, 12.0, 11.0])
    with pytest.raises(ModelError, match=r"^merge-sort: n = 12: must be above Z = 12288$"):
        formula.evaluate(**values(formula, n=points))


def test_an_algorithm_whose_threads_are_not_known_has_no_refined_form():
    with pytest.raises(ModelError, match=r"^boruvka: has no form refined"):
        find("boruvka").refined()
    assert find("boruvka").time().name == "boruvka (TMM)"
    assert find("fft").time("mended").name == "fft (TMM, refined, mended)"


def test_every_formula_can_be_printed():
    assert find("suffix-tree").refined().latex == (r"T_P = \max\left(\frac{k n}{P}, k, L k, \frac{L k n}{P X}\right)")


@pytest.mark.parametrize("name", sorted(kernel_folders()))
def test_a_kernel_that_names_an_algorithm_gives_its_symbols(name):
    kernel = load_kernel(name)
    named = kernel.algorithm(kernel.resolve({}))
    if named is not None:
        known = {symbol.name: symbol for symbol in find(named[0]).symbols}
        assert set(named[1]) <= set(known)
        for letter, value in named[1].items():
            known[letter].check(name, value)


# The page


def test_the_page_shows_the_catalogue():
    assert catalogue() in PAGE


def test_expressions_are_written_as_people_do():
    for entry in ("n^3 lg(n)^2 / C", "n lg(Z) lg(n / Z)", "lg(n) / sqrt(Z)"):
        assert written(parse(entry)) == entry
    assert written(sympy.ceiling(parse("k / C"))) == "ceil(k / C)"
    assert written(sympy.Integer(1)) == "1"


def test_the_page_s_example_prints_what_it_shows(tmp_path):
    ((program, printed),) = re.findall(r"```python\n(.*?)```\n+```\n(.*?)```", PAGE, flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == printed


def test_sympy_is_loaded_only_where_symbols_are_requested():
    program = (
        "import sys; from simtmm import load_machine; from simtmm.model.algorithms.times import predict_algorithm;"
        "from simtmm.model.algorithms import find, regimes, speedup;"
        "predict_algorithm(find('fft'), load_machine('gtx480'), {'N': 1024}); print('sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
