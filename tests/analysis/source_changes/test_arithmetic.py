"""Which lines' arithmetic suggests what: doubles, divisions, functions and chains, at the edge of each."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.source_changes.arithmetic import DIVISION, of_arithmetic, without_divisions
from simtmm.stalls import Count, Place, Reason
from simtmm.stalls.places import Places
from tests.analysis.source_changes.test_changes import of, warps

AMPERE, NO_PIPES = load_machine("rtx-3080"), load_machine("gtx480")
ARRAYS = ("", "x", "y")
WHOLE = 1000  # ticks of warps
QUOTIENT = (("special", 1), ("fp32", 2), ("control", 1))
INTEGERS = (("special", 1), ("integer", 9))
DOUBLES = (("fp64", 1),)


def found(*sites, **others):
    """What `suggested` gives, by change."""
    return {each.change: each for each in suggested(*sites, **others)}


def suggested(*sites, machine=NO_PIPES, executed=None, latency=()):
    """What is suggested of places with so many ticks each, most of them not at the last array.

    sites: line, source, work and ticks of each. executed: instructions of each. latency: ticks that each waits.
    """
    places = Places(tuple(Place("work", "k.cu", line, text, work=work) for line, text, work, _ in sites), ARRAYS)
    ticks = np.zeros((len(places) + 1, len(Reason)), np.int64)
    counts = np.zeros((len(places) + 1, len(Count)), np.int64)
    for number, (_, _, _, whole) in enumerate(sites):
        waits = dict(enumerate(latency)).get(number, 0)
        ticks[3 * number, Reason.INSTRUCTION_LATENCY] = waits
        ticks[3 * number + 1, Reason.ISSUING] = whole - waits - 1
        ticks[3 * number + 2, Reason.BARRIER] = 1
        counts[3 * number + 1, Count.INSTRUCTIONS] = 7 if executed is None else executed[number]
    ticks[-1] = 500  # before the first operations
    stalls = SimpleNamespace(places=places, ticks=ticks, counts=counts)
    return list(of_arithmetic(machine, stalls, WHOLE))


def at(*sites):
    """The numbers of all arrays of some places."""
    return tuple(3 * site + array for site in sites for array in range(3))


def test_doubles_are_to_be_floats_where_the_machine_does_few_of_them_at_a_time():
    sites = [(7, "a", DOUBLES, 20), (8, "b", (("fp32", 1), ("fp64", 1)), 10), (9, "c", (("fp32", 3),), 900)]
    (only,) = found(*sites, machine=AMPERE).values()
    assert (only.change, only.at, only.numbers, only.how) == ("float", ("k.cu", 7, ""), at(0, 1), "estimate")
    assert only.weight == 2 * 30 / WHOLE
    assert found(*sites[1:], machine=AMPERE) == {}  # less than three in a hundred
    assert found(*sites, machine=NO_PIPES) == {}
    for interval, is_slower in ((4, False), (5, True)):  # of two pipes, beside one of two ticks
        pipes = {"pipes.fp64": {"count": 2, "interval": interval}, "pipes.fp32": {"count": 1, "interval": 2}}
        assert bool(found(*sites, machine=AMPERE.replace(pipes))) is is_slower


def test_what_no_line_is_known_of_comes_behind_lines():
    sites = [(0, "", DOUBLES, 500), (8, "b", DOUBLES, 30)]
    assert found(*sites, machine=AMPERE)["float"].at == ("k.cu", 8, "")
    assert found(sites[0], machine=AMPERE)["float"].at == ("k.cu", 0, "")


@pytest.mark.parametrize(
    ("source", "work", "changes"),
    [
        ("i = a / b;", INTEGERS, {"divide"}),
        ("i = a % b;", INTEGERS, {"divide"}),
        ("i = a + b; // a / b", INTEGERS, set()),
        ("i = a /* of a / b */ + b;", INTEGERS, set()),
        ("i = a /* of a", INTEGERS, set()),
        ("a / b */ i = a;", INTEGERS, {"divide"}),  # which line began the comment is not known
        ("b */ i = a;", INTEGERS, set()),
        ("i = a /* of */ / b;", INTEGERS, {"divide"}),
        ("i = a / b;", (("integer", 9),), set()),  # without a reciprocal
        ("f = a / b;", QUOTIENT, {"fast division"}),
        ("f = a / b;", (("special", 1), ("fp32", 1), ("control", 1)), set()),  # not made better
        ("f = a / b;", (("special", 1), ("fp32", 2)), set()),  # not checked
        ("f = a / b;", (("fp32", 2), ("control", 1)), set()),
        ("f = a / b;", (*QUOTIENT, ("fp64", 1)), set()),
        ("f = a / b; // %", QUOTIENT, {"fast division"}),
        ("f = x[i % n] / b;", QUOTIENT, {"divide"}),  # of integers, whatever else it computes
        ("f = a * b;", QUOTIENT, set()),
        ("f = sinf(a);", (("fp32", 9),), {"fast function"}),
        ("f = cos(a);", (("fp32", 9),), {"fast function"}),
        ("f = tan (a);", (("fp32", 9),), set()),
        ("f = powf(a, 2);", (("fp32", 9),), {"fast function"}),
        *(
            (f"f = {name}(a);", (("fp32", 9),), {"fast function"})
            for name in ("expf", "exp10f", "log", "log2f", "log10f")
        ),
        *((f"f = {name}(a);", (("fp32", 9),), set()) for name in ("__expf", "exp2f", "log1p", "expm1f", "powfast")),
        ("sincosf(a, &s, &c);", (("fp32", 9),), {"fast function"}),
        ("f = my_sin(a) + x.cos(a);", (("fp32", 9),), set()),
        ("f = a; // sin(a)", (("fp32", 9),), set()),
        ("f = sin(a);", (("fp64", 9),), set()),
    ],
)
def test_a_line_s_code_and_instructions_say_what_takes_long_there(source, work, changes):
    assert set(found((7, source, work, 30))) == changes
    assert set(found((7, source, work, 29))) == set()
    assert set(found((0, source, work, 30))) == set()


def test_changes_are_of_all_lines_of_their_kind_and_told_at_the_hottest():
    one, two, other = (3, "i = a / b;", INTEGERS, 40), (4, "i = a % 3 / 2;", INTEGERS, 50), (5, "i = a;", INTEGERS, 300)
    again = (4, "i = a % 3 / 2;", (("integer", 1),), 5)
    divide = found(one, two, other, again)["divide"]
    assert (divide.at, divide.how) == (("k.cu", 4, ""), "estimate")
    assert divide.weight == 2 * 95 / WHOLE
    assert sorted(divide.numbers) == sorted(at(0, 1, 3))
    made = divide.make(of([[["compute", 11, "integer"], ["load", [1]]]]), np.array([True, False]))
    assert warps(made) == [[["compute", 3, "integer"], ["load", [1]]]]  # a fifth, rounded up


def test_quotients_of_floats_are_counted_over_a_line():
    sites = [(3, "f = a / b;", (("special", 2), ("fp32", 1)), 20), (3, "f = a / b;", (("fp32", 3), ("control", 1)), 15)]
    division = found(*sites)["fast division"]
    assert (division.at, division.weight, division.numbers) == (("k.cu", 3, ""), 35 / WHOLE, at(0, 1))
    assert division.make.__name__ == "in_fast_divisions"


def test_functions_are_named_and_those_of_doubles_that_run_are_left_alone():
    sites = [(3, "f = sinf(a);", (("fp32", 9),), 30), (4, "f = pow(a, b);", (("fp32", 9),), 60),
             (4, "f = pow(a, b);", DOUBLES, 10)]  # fmt: skip
    function = found(*sites, executed=[1, 1, 0])["fast function"]
    assert (function.at, function.weight, function.numbers) == (("k.cu", 4, ""), 100 / WHOLE, at(0, 1, 2))
    assert function.words.startswith("call __powf, ")
    assert "powf is dozens" in function.words
    (function,) = (each for each in found(*sites, executed=[1, 1, 1]).values() if each.change == "fast function")
    assert (function.at, function.numbers) == (("k.cu", 3, ""), at(0))
    made = function.make(of([[["compute", 17, "fp32"]]]), np.array([True]))
    assert warps(made) == [[["compute", 3, "fp32"]]]


def test_functions_of_three_and_of_eight_times_as_many_instructions_are_told_apart():
    sites = [(3, "f = expf(a);", (("fp32", 7),), 60), (4, "f = logf(a);", (("fp32", 24),), 60)]
    short, long = sorted(suggested(*sites), key=lambda each: each.at)
    assert short.words.startswith("call __expf, ")
    assert short.words.endswith("expf is several instructions here")
    assert long.words.startswith("call __logf, ")
    assert long.words.endswith("logf is dozens of instructions here")
    left = [each.make(of([[["compute", 24, "fp32"]]]), np.array([True])) for each in (short, long)]
    assert [warps(each) for each in left] == [[[["compute", 8, "fp32"]]], [[["compute", 3, "fp32"]]]]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("f = powf(a, 2);", "multiply 2 factors instead of calling powf: powf is dozens"),
        ("f = pow(a + b, 3.0f);", "multiply 3 factors instead of calling powf: powf is dozens"),
        ("f = powf(a, 2.5f);", "call __powf, "),
        ("f = powf(a, b);", "call __powf, "),
    ],
)
def test_a_whole_power_is_a_product(source, words):
    assert found((3, source, (("fp32", 9),), 60))["fast function"].words.startswith(words)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("f = 1.0f / sqrtf(a);", "call rsqrtf instead of dividing by sqrtf, "),
        ("f = a / b; // sqrtf", "divide floats by __fdividef, "),
    ],
)
def test_a_quotient_by_a_root_is_a_function_of_its_own(source, words):
    assert found((3, source, QUOTIENT, 60))["fast division"].words.startswith(words)


@pytest.mark.parametrize(("waits", "is_chain"), [(300, True), (299, False)])
def test_a_line_of_floats_that_waits_for_its_own_results_for_three_ticks_in_ten_is_a_chain(waits, is_chain):
    floats, integers = (("fp32", 1),), (("integer", 1),)
    own = [(6, "s += a;", floats, 400), (6, "s += a;", integers, 10), (7, "", integers, 400), (0, "", floats, 400)]
    suggested = found(*own, latency=[waits - 4, 4, 350, 350])
    assert set(suggested) == ({"chains"} if is_chain else set())
    if is_chain:
        chains = suggested["chains"]
        assert (chains.at, chains.weight, chains.numbers) == (("k.cu", 6, ""), 0.3, at(0, 1))
        assert "30 % of warps' time" in chains.words
        made = chains.make(of([[["compute", 2], ["pause", 9]]]), np.array([True, True]))
        assert warps(made) == [[["compute", 2]]]


def test_a_line_without_its_divisions_has_a_twentieth_of_its_instructions():
    assert DIVISION == 20
    made = without_divisions(of([[["compute", 41, "integer"], ["compute", 1, "special"]]]), np.ones(2, bool))
    assert warps(made) == [[["compute", 3, "integer"]]]
