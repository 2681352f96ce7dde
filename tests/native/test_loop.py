"""Loops as machine code: the same as Python, or refused."""

import ast
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.engine.fast.memory.cache import modulo
from simtmm.native import (
    Loop,
    Written,
    acquire,
    as_python,
    bits_equal,
    call_bound,
    difference_overflows,
    exchange,
    inlined,
    loop,
    prefetch,
    product_overflows,
    release,
    sum_overflows,
    trailing_zeros,
    vectorized,
)
from simtmm.native.statements import Function
from simtmm.native.values import TranslationError
from tests.examples import examples

FACTOR = 3
MASK = np.uint64(0xFF00FF00FF00FF00)
INTEGERS = st.integers(-(2**62), 2**62)
SMALL = st.integers(-40, 40)


class Inner(NamedTuple):
    events: Any  # EVENT
    small: Any  # int16[4]


class Tables(NamedTuple):
    rows: Any  # int64[rows, 3]
    bits: Any  # uint64[2, 2, words]
    kind: Any  # uint8
    long: Any  # int64[2, 71]
    inner: Inner


EVENT = np.dtype([
    ("kind", "i1"), ("value", "u8"), ("site", "u4"), ("depth", "i2"), ("lanes", "i8", 3), ("bytes", "u1", 2)
])  # fmt: skip
DIGITS = np.array([3, 1, 4, 1, 5, 250], np.uint8)
SIGNS = np.array([-1, 1, 1 << 40])
SQUARE, HALVES = np.arange(4).reshape(2, 2), np.array([0.5])


def tables(numbers):
    rows = np.array([*numbers, *range(6)][:6], dtype=np.int64).reshape(2, 3)
    long = np.resize([*numbers, *range(-7, 8)], 142).reshape(2, 71)
    events = np.zeros(4, EVENT)
    for place, name in enumerate(("kind", "value", "site", "depth")):
        events[name] = np.arange(7, 11) * (place + 9)
    events["lanes"], events["bytes"] = long.ravel()[:12].reshape(4, 3), np.arange(8).reshape(4, 2)
    inner = Inner(events, np.array([5, -3, 2, 1], np.int16))
    bits = np.arange(8, dtype=np.uint64).reshape(2, 2, 2)
    return Tables(rows, bits, np.array([7, 250, 3], dtype=np.uint8), long, inner)


def listed(state):
    """All elements of the arrays of a tuple, and of the tuples in it."""
    return [
        listed(array)
        if isinstance(array, tuple)
        else (array.tolist() if array.dtype.names is None else array.tobytes())
        for array in state
    ]


def arithmetic(s, a, b):
    s.rows[0, 0] = a + b * FACTOR - (a & b | 5 ^ a)
    s.rows[0, 1] = a >> 3
    s.rows[0, 2] -= -a + ~b
    s.rows[1, 0] *= min(a, b, 7) + max(a, 2)
    s.rows[1, 1], s.rows[1, 2] = b, s.rows[0, 1]
    return np.int64(s.kind[1]) << 2


def division(s, a, b):
    if b == 0:
        return 0
    s.rows[0, 0] = a // b
    s.rows[0, 1] = a % b
    s.rows[0, 2] = np.int64(np.uint64(a & 0xFFFF) % np.uint64(b & 63 | 1))
    s.rows[1, 0] = np.int64(np.uint64(a & 0xFFFF) // np.uint64(b & 63 | 1))
    return a // 8


def unsigned(s, a, b):
    word = np.uint64(a & 0xFFFFFF)
    s.bits[1, 0, 1] |= (word & MASK) >> np.uint64(8) | ~word & np.uint64(1) << np.uint64(63)
    s.bits[1, 1, 0] ^= word & (~word + np.uint64(1))
    count = 0
    while word != 0:
        word &= word - np.uint64(1)
        count += 1
    if s.bits[1, 0, 1] > np.uint64(1) << np.uint64(62):
        count += 100
    return count


def conditions(s, a, b):
    value = 0
    if a < b <= 5 and not (b & 1 or a == -3):
        value += 1
    elif a in (1, 2, b) or (b and a > 30):
        value += 2
    else:
        value -= 1
    if a not in (4, 5) and (FACTOR == 3 or a // b):
        value += 4
    both = a > 0 and (b > 0 or a != b)
    chosen = np.int64(8) if both else np.int64(both)
    return value + chosen + (16 if a > b and a // (a - b) > 0 else 32)


def loops(s, a, b):
    total = np.int64(0)
    for i in range(a):
        if i == b:
            break
        if i % 3 == 1:
            continue
        for j in range(i, b, -2):
            total += i * j
            if total > 500:
                break
    for i in range(2):
        s.rows[i, 2] = total + len(s.kind) + s.rows.shape[1]
    while True:
        b -= 7
        if b < 0:
            return total + b
        total += 1


@inlined
def _square(x):
    return x * x


def _store(lines, row, value, large):
    for column in range(lines.shape[1]):
        lines[row, column] = value
    if large:
        return
    lines[row, 0] += 1


def _is_positive(x):
    return x > 0


def calls(s, a, b):
    prefetch(s.kind, a & 1)
    prefetch(s.rows, 1, a & 1)
    _store(s.rows, np.int64(1), _square(b), a > 3)
    _store(s.rows, 0, a, _is_positive(b))
    return _square(a) + np.int64(_is_positive(a))


def many_at_once(s, a, b):
    """What LLVM does in lanes of vectors, and whole words of truths."""
    least = np.int64(a)
    differs = np.int64(0)
    for i in vectorized(range(s.long.shape[1])):
        least = min(least, s.long[1, i])
        differs |= s.long[0, i] ^ b
    s.rows[0, 0] = differs
    s.rows[0, 1] = np.int64(bits_equal(np.int64(b), s.long, 1, a & 7))
    s.rows[0, 2] = trailing_zeros(np.uint64(a))
    s.rows[1, 0] = trailing_zeros(s.bits[0, 0, 0])
    return least


def overflowing(s, a, b):
    """What needs more than 64 bits."""
    s.rows[0, 0] = np.int64(sum_overflows(a, b)) + 2 * np.int64(difference_overflows(a, b))
    s.rows[0, 1] = np.int64(product_overflows(a, b)) + 2 * np.int64(product_overflows(s.long[0, 1], s.long[0, 2]))
    s.rows[0, 2] = np.int64(sum_overflows(s.long[0, 0] * 2, s.long[0, 1]))
    if difference_overflows(np.int64(-1) << 63, b):
        return a
    return b


def shared(s, a, b):
    """What several threads may use."""
    before = acquire(s.rows, a & 1, 2)
    release(s.rows, 1, b & 1, before + a)
    if exchange(s.rows, 0, 0, a, b):
        return before
    return np.int64(exchange(s.rows, 0, 1, acquire(s.rows, 0, 1), a)) - before


def nothing(s, a, b):
    """A docstring."""
    if a > b:
        return


BOUND = Loop(arithmetic)


def calls_bound(s, a, b):
    """What is called writes to the array that is looked at before and after."""
    before = s.rows[0, 0]
    given = call_bound(a, b)
    return given + s.rows[0, 0] - before


def test_a_bound_loop_is_called_by_addresses():
    state = tables([1, 2, 3, 4, 5, 6])
    bound = BOUND.bind(state, 5, 6)
    expected = tables([1, 2, 3, 4, 5, 6])
    given = python(arithmetic, expected, 5, 6)
    assert Loop(calls_bound)(state, bound.entry, bound.table) == given + expected.rows[0, 0] - 1
    assert state.rows.tolist() == expected.rows.tolist()
    assert call_bound(bound.entry, bound.table) == python(arithmetic, expected, 5, 6)
    assert bound.line == 0


def test_what_was_written_for_it_is_a_function_too():
    text = "def twice(s, a):\n    s.rows[0, 0] += 1\n    return a * FACTOR\n"
    state = tables([1, 2, 3, 4, 5, 6])
    assert Loop(Written("twice", "of a test", text, {"FACTOR": 2}))(state, 21) == 42
    assert state.rows[0, 0] == 2
    wrong = Loop(Written("wrong", "of a test", "def wrong(s, a):\n    if a > 1:\n        b = a\n    return b\n", {}))
    with pytest.raises(TranslationError, match=r"^of a test, line 4: may have no value here: b$"):
        wrong(state, 1)


TURNS = 200_000


def take_turns(s, who):
    """Add to a number that is nobody's own, while nobody else does."""
    for _ in range(TURNS):
        while not exchange(s.rows, 0, 0, 0, who):
            prefetch(s.kind, 0)
        s.rows[1, 1] += 1
        s.rows[1, 2] = who
        release(s.rows, 0, 0, 0)
    return acquire(s.rows, 1, 1)


def test_of_several_threads_one_alone_has_what_was_exchanged():
    state, loop_of_each = tables([0] * 6), Loop(take_turns)
    loop_of_each(state, 1)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda who: loop_of_each(state, who), range(1, 4)))
    assert state.rows[1, 1] == 4 * TURNS
    assert state.rows[0, 0] == 0


def _lanes_of(event, lane):
    if lane > 1:
        return event.lanes[lane], -lane
    return event.lanes[0] + event.depth, lane


def _of_both(inner, event, digits):
    event.lanes[1] -= digits[5]
    return event.site * inner.small[1] + len(digits) + len(inner.events)


def records(s, a, b):
    inner = s.inner
    events, kind = inner.events, inner.events[2].kind
    event = events[a & 3]
    event.kind = b  # of what is too large the lower bits
    event.value = np.uint64(a & 0xFF)
    event.depth -= b
    found, lane = _lanes_of(event, a & 1)
    total = found * 3 + lane + kind + _of_both(inner, event, DIGITS)
    for place in range(len(events)):
        event = events[place]
        event.bytes[1] += place
        if (event.site > 90) != (place < 2):
            total += np.int64(event.value) * SIGNS[place % 3]
    if total != 0:
        return total + events[b & 1].lanes[2] + DIGITS[b & 3]
    return 7


FUNCTIONS = [
    arithmetic, division, unsigned, conditions, loops, calls, many_at_once, overflowing, shared, nothing, records
]  # fmt: skip
LARGE = (arithmetic, overflowing)


def python(function, state, *numbers):
    return as_python(function)(state, *map(np.int64, numbers))


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_loop_does_what_python_does(function, checked):
    compiled = Loop(function, checked=checked)

    @examples(60)
    @given(a=SMALL | INTEGERS if function in LARGE else SMALL, b=SMALL, numbers=st.lists(INTEGERS, max_size=6))
    def agrees(a, b, numbers):
        here, there = tables(numbers), tables(numbers)
        assert compiled(here, a, b) == int(python(function, there, a, b) or 0)
        assert listed(here) == listed(there)

    agrees()


def test_all_that_is_translated_is_among_these():
    """Each kind of node that has a method is in a function above, or what it does has not been compared."""
    trees = [ast.parse(inspect.getsource(function)) for function in FUNCTIONS]
    written = {type(node).__name__.lower() for tree in trees for node in ast.walk(tree)}
    kinds = {name.lower() for name, kind in vars(ast).items() if inspect.isclass(kind) and issubclass(kind, ast.AST)}
    methods = {name.removeprefix("_do").removeprefix("_") for name in dir(Function) if name.startswith("_")}
    assert len(methods & kinds) > 15
    assert methods & kinds <= written


def only(mode, a):
    if mode == 1:
        return a + 1
    if mode == 2:
        return missing(a)  # noqa: F821  # not there, and not needed for what is compiled here
    return a - 1


def test_what_a_constant_leaves_out_is_not_in_the_machine_code():
    compiled = Loop(only, ("mode",))
    assert [compiled(1, 10), compiled(0, 10)] == [11, 9]
    assert compiled.is_compiled([1])
    assert not compiled.is_compiled([2])
    with pytest.raises(TranslationError, match="missing"):
        compiled(2, 10)


def _refused():
    def kinds(s, a):
        return s.bits[0, 0, 0] + a

    def element(s, a):
        s.rows[0, 0] = s.bits[0, 0, 0]

    def another_kind(s, a):
        x = a
        x = np.uint64(3)
        return np.int64(x)

    def no_value(s, a):
        if a > 0:
            x = 1
        return x

    def no_value_after_a_loop(s, a):
        for x in range(a):
            s.rows[0, 0] = x
        return x

    def now_and_then(s, a):
        if a > 0:
            return a
        return a < -3

    def negative(s, a):
        return s.rows[0, -1]

    def one_index(s, a):
        return s.rows[0]

    def part(s, a):
        return s.rows[0, 0:2]

    def fraction(s, a):
        return a / 2

    def float_number(s, a):
        return a + 1.5

    def power(s, a):
        return a**2

    def twice(s, a):
        s.rows[0, _square(a)] += 1

    def attribute(s, a):
        return s.columns[0]

    def unknown(s, a):
        return unheard_of(a)  # noqa: F821

    def named(s, a):
        return max(a, key=None)

    def listed(s, a):
        for x in [1, 2]:
            a += x
        return a

    def value_of_and(s, a):
        return a and 3

    def truth(s, a):
        return (a > 1) + 1

    def caught(s, a):
        try:
            return a
        finally:
            pass

    def step(s, a):
        for x in range(0, 9, a):
            s.rows[0, 0] = x

    def zeros_of_signed(s, a):
        return trailing_zeros(a)

    def overflow_of_unsigned(s, a):
        return np.int64(sum_overflows(s.bits[0, 0, 0], s.bits[0, 0, 1]))

    def bits_of_bytes(s, a):
        return np.int64(bits_equal(a, s.kind, 0))

    def acquired_bytes(s, a):
        return acquire(s.kind, a)

    def released_without_a_value(s, a):
        release(s.rows, a, 0)

    def exchanged_without_what_was_there(s, a):
        return np.int64(exchange(s.rows, 0, 0, a))

    def otherwise(s, a):
        while a > 0:
            a -= 1
        else:
            a = 3
        return a

    return [value for value in locals().values() if callable(value)]


def _refused_of_wholes():
    def two_from_one(s, a):
        x, y = _square(a)
        return x + y

    def two_as_one(s, a):
        x = _lanes_of(s.inner.events[0], a)
        return np.int64(x)

    def three_of_two(s, a):
        x, y, z = _lanes_of(s.inner.events[0], a)
        return x + y + z

    def now_one_array(s, a):
        x = s.rows
        x = s.kind
        return len(x)

    def an_array_or_a_number(s, a):
        x = s.rows
        x = 3
        return x + a

    def a_number_or_an_array(s, a):
        x = 3
        x = s.rows
        return len(x)

    def records_of_another_array(s, a):
        x = s.inner.events[0]
        x = s.rows
        return len(x)

    def no_record_yet(s, a):
        if a > 5:
            x = s.inner.events[0]
        return x.kind

    def no_such_field(s, a):
        return s.inner.events[0].colour

    def field_of_many(s, a):
        s.inner.events[0].lanes = a

    def changed_constant(s, a):
        DIGITS[0] = a

    def before_a_constant(s, a):
        return DIGITS[-1]

    def constant_of_two_dimensions(s, a):
        return SQUARE[0, 0]

    def constant_of_fractions(s, a):
        return np.int64(HALVES[0])

    def greater_truth(s, a):
        return np.int64((a > 1) > (a > 2))

    return [value for value in locals().values() if callable(value)]


@pytest.mark.parametrize("function", [*_refused(), *_refused_of_wholes()], ids=lambda function: function.__name__)
def test_what_is_outside_is_refused_with_its_line(function):
    first = function.__code__.co_firstlineno
    last = first + len(inspect.getsource(function).splitlines())
    with pytest.raises(TranslationError, match=r"line (\d+)") as caught:
        Loop(function)(tables([]), 3)
    line = int(str(caught.value).split("line ")[1].split(":")[0])
    assert first <= line < last


def put(array, value):
    array[1] = value


@pytest.mark.parametrize("kind", ["uint8", "int16", "int32", "uint32"])
def test_an_element_of_fewer_bits_takes_the_lower_ones_of_a_value(kind):
    for value in (0, 3, 200, -1, 1 << 40 | 77, -(1 << 62)):
        array = np.array([5, 5, 5], kind)
        Loop(put)(array, value)
        assert array.tolist() == [5, int(np.int64(value).astype(kind)), 5]


def itself(a):
    return itself(a - 1)


def test_no_function_calls_itself():
    with pytest.raises(TranslationError, match="calls itself"):
        Loop(itself)(3)


def look(array, index):
    return array[index] + 1


def divide(a, b):
    return a // b


@pytest.mark.parametrize("index", [-1, 4, 2**62])
def test_checked_an_index_outside_of_an_array_is_reported(index):
    array = np.arange(4)
    assert Loop(look, checked=True)(array, 3) == 4
    with pytest.raises(IndexError, match=rf"test_loop: line {look.__code__.co_firstlineno + 1}"):
        Loop(look, checked=True)(array, index)


def test_checked_a_division_by_zero_is_reported():
    with pytest.raises(IndexError, match="division by zero"):
        Loop(divide, checked=True)(3, 0)


def of_record(events, index, lane):
    return events[index].lanes[lane]


def digit(index):
    return DIGITS[index]


@pytest.mark.parametrize("numbers", [(4, 0), (-1, 0), (0, 3), (0, -1)])
def test_checked_a_record_and_an_element_of_its_field_are_there(numbers):
    events = tables([])[-1].events
    assert Loop(of_record, checked=True)(events, 3, 2) == events[3]["lanes"][2]
    with pytest.raises(IndexError, match=rf"line {of_record.__code__.co_firstlineno + 1}"):
        Loop(of_record, checked=True)(events, *numbers)


def test_checked_an_element_of_a_constant_is_there():
    assert Loop(digit, checked=True)(5) == 250
    with pytest.raises(IndexError):
        Loop(digit, checked=True)(6)


def test_a_variable_has_all_loops_check_their_indices(monkeypatch):
    monkeypatch.setenv("SIMTMM_CHECK_INDICES", "1")
    with pytest.raises(IndexError):
        Loop(look)(np.arange(4), 4)
    monkeypatch.setenv("SIMTMM_CHECK_INDICES", "0")
    assert Loop(look)(np.arange(4), 3) == 4


@pytest.mark.parametrize("kind", [[("a", "f8")], [("a", "i8", (2, 2))], [("a", [("b", "i8")])]])
def test_records_of_something_else_are_refused(kind):
    with pytest.raises(ValueError, match="no records of integers"):
        Loop(look)(np.zeros(3, kind), 1)


def which(array, first):
    return np.int64(bits_equal(np.int64(3), array, first))


@pytest.mark.parametrize("first", [-1, 7])
def test_checked_each_of_64_elements_is_in_the_array(first):
    array = np.arange(70)
    assert Loop(which, checked=True)(array, 2) == 2
    with pytest.raises(IndexError):
        Loop(which, checked=True)(array, first)


def corners(array, other):
    return 100 * array[1, 0] + array.shape[1] + 10 * other[1, 0] + other.shape[1]


def test_rows_of_one_length_are_compiled_for_and_another_length_anew():
    compiled = Loop(corners, rows=("array",))
    for columns in (2, 3, 2):
        array, other = np.arange(2 * columns).reshape(2, columns), np.arange(8).reshape(2, 4)
        assert compiled(array, other) == corners(array, other)
    assert len(compiled._variants) == 2


def copy(source, target):
    for index in range(len(target)):
        target[index] = source[index]


def test_arrays_that_are_written_to_lie_apart():
    array = np.arange(8)
    Loop(copy)(array[:4], array[4:])
    assert array.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="shares elements"):
        Loop(copy)(array[:5], array[4:])
    with pytest.raises(ValueError, match="shares elements"):
        Loop(copy)(array, array[2:6])
    Loop(copy)(array[4:], array[6:6])
    frozen = array.copy()
    frozen.setflags(write=False)
    assert Loop(look)(frozen, 2) == 3


@pytest.mark.parametrize("array", [np.arange(8)[::2], np.arange(4.0), np.arange(4).astype(">i8")])
def test_other_arrays_are_refused(array):
    with pytest.raises(ValueError, match="no C-contiguous array of integers"):
        Loop(look)(array, 1)


@pytest.fixture
def call(monkeypatch, tmp_path):
    """A loop of the package, and a folder to keep it in."""
    monkeypatch.setattr(loop, "kept_folder", lambda module: tmp_path)
    return lambda: Loop(modulo)(10, 7)


def test_what_is_compiled_is_kept_and_found_again(call, tmp_path, monkeypatch):
    assert call() == 3
    (kept,) = tmp_path.iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_compiled", lambda *arguments: pytest.fail("compiled again"))
        assert call() == 3
    kept.write_bytes(b"damaged")
    assert call() == 3


def test_what_is_not_of_this_package_is_not_kept(monkeypatch, tmp_path):
    """Nothing would tell that its source has changed."""
    monkeypatch.setattr(loop, "kept_folder", lambda module: tmp_path)
    assert Loop(look)(np.arange(4), 2) == 3
    assert not any(tmp_path.iterdir())
