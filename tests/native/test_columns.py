"""Columns of rows by name: the same numbers as by index, in machine code and as Python."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from simtmm.native import Columns, Loop, Rows, as_python, inlined
from simtmm.native.values import TranslationError

Person = Columns("age height", "children", room=5)
Total = Columns("people years")


class Town(NamedTuple):
    people: Annotated[Any, Person]  # [streets, houses]
    total: Annotated[Any, Total]
    plain: Any  # int64[3, 5]


@inlined
def birthday(people, street, house):
    people[street, house].age += 1
    return people[street, house].age


def count(town: Town, taller: Annotated[Any, Person], street):
    for house in range(town.people.shape[1]):
        town.total.people += 1
        town.total.years += birthday(town.people, street, house)
        town.people[street, house].children = taller[house].height - town.people[street, house].height
        town.plain[0, Person.children] = town.people[street, house, Person.height]
    return len(Person) * len(town.total)


def town():
    people = np.arange(2 * 3 * len(Person)).reshape(2, 3, len(Person))
    return Town(people, np.zeros(len(Total), np.int64), np.zeros((3, 5), np.int64)), 100 + np.arange(15).reshape(3, 5)


@pytest.mark.parametrize("run", [Loop(count), Loop(count, checked=True), as_python(count)])
def test_a_column_by_name_is_the_one_with_its_number(run):
    (people, total, plain), taller = whole = town()
    before = people.copy()
    assert run(*whole, 1) == 5 * 2
    assert total.tolist() == [3, int(before[1, :, 0].sum()) + 3]
    assert people[0].tolist() == before[0].tolist()
    assert people[1, :, 0].tolist() == (before[1, :, 0] + 1).tolist()
    assert people[1, :, 2].tolist() == (taller[:, 1] - before[1, :, 1]).tolist()
    assert plain[0].tolist() == [0, 0, int(before[1, 2, 1]), 0, 0]
    assert people[1, :, [1, 3, 4]].tolist() == before[1, :, [1, 3, 4]].tolist()


def no_such_column(taller: Annotated[Any, Person]):
    return taller[0].name


def no_columns(taller):
    return taller[0].age


def beyond_its_columns(taller: Annotated[Any, Person]):
    return taller[0, len(Person)]


def too_few_indices(people: Annotated[Any, Person]):
    return people[0].age


@pytest.mark.parametrize(
    ("function", "shape"),
    [(no_such_column, (3, 5)), (no_columns, (3, 5)), (beyond_its_columns, (3, 6)), (too_few_indices, (2, 3, 5))],
)
def test_what_is_no_column_is_refused_with_its_line(function, shape):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(TranslationError, match=f"test_columns, line {line}: "):
        Loop(function)(np.zeros(shape, np.int64))


def outside(taller: Annotated[Any, Person], house):
    taller[house].age = 1


def test_a_row_outside_of_its_array_is_found():
    with pytest.raises(IndexError, match="line"):
        Loop(outside, checked=True)(np.zeros((3, 5), np.int64), 3)


def test_columns_are_numbers_names_and_a_width():
    assert (Person.age, Person.height, Person.children, len(Person), len(Total)) == (0, 1, 2, 5, 2)
    assert list(Person) == ["age", "height", "children"]
    assert "age" in Person
    assert "name" not in Person
    assert isinstance(Person.age, np.int64)
    with pytest.raises(AttributeError, match="no column name among age, height, children"):
        _ = Person.name
    with pytest.raises(ValueError, match="two columns of one name"):
        Columns("a b", "a")


def test_rows_of_an_array_in_python_are_views():
    array = np.zeros((4, len(Person)), np.int64)
    people = Rows(array, Person)
    people[2].age = 7
    people[np.int64(3), Person.height] = 8
    assert (array[2, 0], array[3, 1], len(people), people[2].age, people[1:3, Person.age].tolist()) == (
        7,
        8,
        4,
        7,
        [0, 7],
    )
    people[:2] += 1
    assert array[:2].tolist() == [[1] * 5] * 2
