"""Axes: ranges, lists, axes that go together, samples."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.errors import StudyError
from simtmm.study.design.axes import Axis, Span, axis, flattened, product, sample, scale_of, size, span


def values(text, **options):
    return list(axis("x", text, **options).values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3:6", [3, 4, 5, 6]),
        ("0:1:step:0.25", [0, 0.25, 0.5, 0.75, 1]),
        ("0:1:step:0.1", [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        ("0:10:step:4", [0, 4, 8]),
        ("10:20:linear:3", [10, 15, 20]),
        ("1:1000:log:4", [1, 10, 100, 1000]),
        ("32:1024:times:2", [32, 64, 128, 256, 512, 1024]),
        ("32:1000:times:2", [32, 64, 128, 256, 512]),
        ("-2:0", [-2, -1, 0]),
        ("7:7", [7]),
        ("5:5:linear:1", [5]),
        ("1,2,4", [1, 2, 4]),
        ("fifo, oldest", ["fifo", "oldest"]),
        ("none,3,true,false,2.5", [None, 3, True, False, 2.5]),
        ("1e3", [1000]),
        ("a:b", ["a:b"]),
        (64, [64]),
        ([1, 2.5, "word", True, "none"], [1, 2.5, "word", True, None]),
    ],
)
def test_a_range_a_list_or_a_value_gives_its_values(text, expected):
    made = values(text)
    assert made == expected
    assert [type(value) for value in made] == [type(value) for value in expected]


def test_ends_of_a_logarithmic_range_are_what_was_typed():
    assert values("100:1600:log:9")[0] == 100
    assert values("100:1600:log:9")[-1] == 1600


def test_whole_ranges_are_rounded_and_values_that_meet_are_one():
    assert values("1:4:log:9", whole=True) == [1, 2, 3, 4]


def test_a_list_is_not_rounded_so_that_a_wrong_value_is_refused_where_it_is_used():
    assert values([1.5], whole=True) == [1.5]


def test_values_that_occur_again_are_left_out_except_of_axes_that_go_together():
    assert values("1,2,1") == [1, 2]
    assert values("1,true,1.0") == [1, True]
    assert values("1,2,1", unique=False) == [1, 2, 1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("6:3", "LOW must be at most HIGH"),
        ("0:3:log:4", "LOW must be above 0"),
        ("1:3:log", "must be LOW:HIGH, "),
        ("1:3:cubic:4", "LOW:HIGH:log:NUMBER"),
        ("1:3:log:4:5", "must be LOW:HIGH"),
        ("1:3:linear:1", "at least 2"),
        ("1:3:linear:2.5", "must be whole"),
        ("1:3:step:0", "STEP must be above 0"),
        ("1:3:times:1", "the factor must be above 1"),
        ("0:1:step:1e-9", "more than 100000 values"),
        ("-1e308:1e308:linear:3", "too far apart for a distance"),
        ("-1e308:1e308:step:1e307", "too far apart for a distance"),
        ("1e-308:1e308:log:3", "too far apart for a ratio"),
        ("1e-308:1e308:times:10", "too far apart for a ratio"),
        ([], "at least one value"),
        ([[1]], "must be a number, a word, true or false"),
        ([math.inf], "must be a number"),
    ],
)
def test_a_range_that_is_none_is_refused_with_its_name(text, said):
    for whole in (False, True):
        with pytest.raises(StudyError, match="axis x") as caught:
            axis("x", text, whole)
        assert said in str(caught.value)


POSITIVE = st.floats(1e-3, 1e6)


@given(POSITIVE, POSITIVE, st.integers(2, 40))
def test_logarithmic_ranges_have_equal_ratios_and_their_ends(low, more, number):
    made = values(f"{low!r}:{low + more!r}:log:{number}")
    assert len(made) <= number
    # values are kept to 12 significant digits
    assert made[0] == pytest.approx(low, rel=1e-11)
    assert made[-1] == pytest.approx(low + more, rel=1e-11)
    if len(made) == number:
        ratio = ((low + more) / low) ** (1 / (number - 1))
        for one, other in pairwise(made):
            assert other / one == pytest.approx(ratio, rel=1e-10)  # each of them to 12 digits


@given(st.integers(-1000, 1000), st.integers(0, 300), st.integers(1, 50))
def test_whole_steps_are_pythons_range(low, more, step):
    assert values(f"{low}:{low + more}:step:{step}") == list(range(low, low + more + 1, step))


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True), min_size=1, max_size=4))
def test_the_product_has_every_combination_once_the_last_axis_changing_fastest(lists):
    groups = [[Axis(str(number), tuple(numbers))] for number, numbers in enumerate(lists)]
    made = [tuple(point.values()) for point in product(groups)]
    assert len(made) == size(groups) == len(set(made))
    places = [tuple(axis[0].values.index(value) for axis, value in zip(groups, point, strict=True)) for point in made]
    assert places == sorted(places)


def test_linked_axes_go_together_value_by_value():
    groups = [[Axis("a", (1, 2))], [Axis("b", (3, 4)), Axis("c", ("x", "y"))]]
    assert list(product(groups)) == [
        {"a": 1, "b": 3, "c": "x"},
        {"a": 1, "b": 4, "c": "y"},
        {"a": 2, "b": 3, "c": "x"},
        {"a": 2, "b": 4, "c": "y"},
    ]


def test_linked_axes_of_other_lengths_are_refused():
    with pytest.raises(StudyError, match="b has 2, c has 3: must have equal numbers"):
        list(product([[Axis("b", (1, 2)), Axis("c", (1, 2, 3))]]))


def test_a_study_without_axes_is_one_point():
    assert list(product([])) == [{}]
    assert size([]) == 1


@pytest.mark.parametrize("method", ["random", "latin-hypercube"])
def test_samples_lie_in_their_spans_and_follow_the_seed(method):
    spans = [span("a", "1:100:log"), span("b", "0:8", whole=True), span("c", "-1:1")]
    drawn = sample(spans, 50, method, 7)
    assert drawn == sample(spans, 50, method, 7)
    assert drawn != sample(spans, 50, method, 8)
    assert len(drawn) == 50
    for point in drawn:
        assert 1 <= point["a"] <= 100
        assert point["b"] in range(9)
        assert -1 <= point["c"] <= 1


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_a_latin_hypercube_has_one_point_in_each_part_of_each_axis(points, seed):
    drawn = sample([span("a", "0:1"), span("b", "1:1024:log")], points, "latin-hypercube", seed)
    # a point on an edge may be rounded into the next part, as values are kept to 12 digits: so a hair less
    assert sorted(int(point["a"] * points - 1e-9) for point in drawn) == list(range(points))
    assert sorted(int(math.log2(point["b"]) / 10 * points - 1e-9) for point in drawn) == list(range(points))


def test_whole_samples_reach_both_ends():
    drawn = {point["a"] for point in sample([span("a", "1:4", whole=True)], 200, "random", 0)}
    assert drawn == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1", "must be LOW:HIGH"),
        ("1:2:log:3", "must be LOW:HIGH"),
        (4, "must be LOW:HIGH"),
        ("2:1", "LOW must be at most HIGH"),
        ("0:2:log", "LOW must be above 0"),
        ("-1e308:1e308", "too far apart for a distance"),
        ("1e-308:1e308:log", "too far apart for a ratio"),
    ],
)
def test_a_span_that_is_none_is_refused(text, said):
    for whole in (False, True):
        with pytest.raises(StudyError, match="sample: axis x") as caught:
            span("x", text, whole)
        assert said in str(caught.value)


def test_a_whole_span_without_a_whole_number_is_refused():
    with pytest.raises(StudyError, match="no whole number"):
        span("x", "1.2:1.8", whole=True)


def test_nested_tables_become_dotted_keys():
    assert flattened({"memory": {"latency": 1, "l1": {"sets": 2}}, "n": 3, "a.b": 4}) == {
        "memory.latency": 1,
        "memory.l1.sets": 2,
        "n": 3,
        "a.b": 4,
    }


@pytest.mark.parametrize(
    ("written", "scale"),
    [
        ("1:8", "linear"),
        ("1:8:step:2", "linear"),
        ("1:8:linear:3", "linear"),
        ("1:8:log:3", "log"),
        ("1:8:times:2", "log"),
        ("1,2,4", None),
        ("a:b", None),
        ([1, 2], None),
        (64, None),
    ],
)
def test_a_range_tells_how_its_values_go(written, scale):
    assert scale_of(written) == scale


@pytest.mark.parametrize(
    ("span", "fractions", "values"),
    [
        (Span("a", 2, 4), [0, 0.25, 1], [2, 2.5, 4]),
        (Span("a", 1, 100, log=True), [0, 0.25, 0.5, 1], [1, 10**0.5, 10, 100]),
        # Whole values have equal shares of a linear scale, the last one too
        (Span("a", 1, 10, whole=True), [0, 0.0999, 0.1, 0.8999, 0.9, 1], [1, 1, 2, 9, 10, 10]),
        (Span("a", 0.5, 3.5, whole=True), [0, 0.34, 0.67, 1], [1, 2, 3, 3]),
        (Span("a", 1, 1000, log=True, whole=True), [0, 1 / 3, 0.5, 1], [1, 10, 32, 1000]),
        (Span("a", 1.5, 8.5, log=True, whole=True), [0, 0.5, 1], [2, 4, 8]),
    ],
)
def test_a_sample_s_values_lie_as_far_along_as_it_says(span, fractions, values):
    assert [span.at(fraction) for fraction in fractions] == pytest.approx(values, rel=1e-11)  # of DIGITS
    if span.whole:
        assert all(isinstance(span.at(fraction), int) for fraction in fractions)
