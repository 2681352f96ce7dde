"""`simtmm.dataclass` makes what Python's own library makes."""

import abc
import copy
import dataclasses
import inspect
import pickle
import typing
from dataclasses import field

import pytest

from simtmm import dataclass as own

BOTH = pytest.mark.parametrize("dataclass", [dataclasses.dataclass, own.dataclass], ids=["library", "own"])


@own.dataclass(frozen=True)
class Point:
    """Is found by its name, as pickle needs it."""

    x: int
    y: "list[int]" = field(default_factory=list)


def plain():
    class Plain:
        """Every kind of field."""

        first: int
        second: "float"
        third: str = "c"
        listed: list = field(default_factory=list)
        hidden: int = field(default=4, repr=False)
        apart: int = field(default=5, compare=False)
        unhashed: int = field(default=6, hash=False)
        later: int = field(default=7, kw_only=True)
        made: dict = field(init=False, default_factory=dict)
        set: int = field(init=False, default=8)

    return Plain


def empty():
    class Empty:
        pass

    return Empty


def single():
    class Single:
        only: int

    return Single


def checked():
    class Checked:
        low: int
        high: int = 9

        def __post_init__(self):
            if self.low > self.high:
                raise ValueError("the wrong way round")

    return Checked


def told():
    class Told:
        x: int

        def __repr__(self):
            return "told"

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 5

    return Told


def half_told():
    class HalfTold:
        x: int

        def __eq__(self, other):
            return True

    return HalfTold


def unhashable():
    class Unhashable:
        x: int
        __hash__ = None

    return Unhashable


CLASSES = {each.__name__: each for each in (plain, empty, single, checked, told, half_told, unhashable)}
GIVEN = {
    "plain": [((1, 2.0), {}), ((1, 2.0, "d", [3], 5, 6, 7), {"later": 8}), ((1, 2.0), {"apart": 9}),
              ((1, 2.0), {"unhashed": 9}), ((1,), {}), ((1, 2, 3, 4, 5, 6, 7, 8), {}), ((1, 2.0), {"made": {}})],
    "empty": [((), {}), ((1,), {})],
    "single": [((1,), {}), ((), {"only": 1}), ((2,), {})],
    "checked": [((1,), {}), ((10,), {}), ((1, 2), {})],
    "told": [((1,), {}), ((2,), {})], "half_told": [((1,), {}), ((2,), {})], "unhashable": [((1,), {}), ((2,), {})],
}  # fmt: skip
OPTIONS = [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "eq": False}, {"frozen": True, "kw_only": True},
           {"repr": False}, {"init": False}]  # fmt: skip


def outcome(call):
    """What a call gives, or what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error).replace("<locals>.", "")


def behaviour(cls, given):
    """All that can be seen of a class's methods, as values that are equal where they behave alike."""
    seen = [[each.name for each in dataclasses.fields(cls)], getattr(cls, "__match_args__", None), cls.__hash__ is None]
    if "__init__" in cls.__dict__:
        seen += [str(inspect.signature(cls)), cls.__init__.__qualname__, cls.__init__.__module__]
        seen.append(outcome(lambda: typing.get_type_hints(cls.__init__)))
    made = [outcome(lambda words=words, named=named: cls(*words, **named)) for words, named in given]
    seen += [each if isinstance(each, tuple) else "made" for each in made]
    made = [each for each in made if not isinstance(each, tuple)]
    if cls.__repr__ is not object.__repr__:
        seen += [repr(each) for each in made]
    seen += [vars(each) for each in made]
    seen.append([[one == other for other in made] for one in made])
    seen.append([one == 5 for one in made] + [one.__eq__(5) for one in made])
    if cls.__hash__ not in (None, object.__hash__):
        seen += [outcome(lambda each=each: hash(each)) for each in made]
    for one in made:
        for name in [*(each.name for each in dataclasses.fields(cls)), "other"]:
            seen.append(outcome(lambda one=one, name=name: setattr(one, name, 3)))
            seen.append(outcome(lambda one=one, name=name: delattr(one, name)))
    return seen


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_behaves_as_the_librarys(name, options):
    ours = behaviour(own.dataclass(**options)(CLASSES[name]()), GIVEN[name])
    assert ours == behaviour(dataclasses.dataclass(**options)(CLASSES[name]()), GIVEN[name])
    assert len(ours) > 3


@BOTH
def test_a_class_of_another_one_has_the_fields_of_both(dataclass):
    @dataclass(frozen=True)
    class Base:
        a: int
        b: int = 2

    @dataclass(frozen=True)
    class Both(Base):
        c: int = 3
        a: int = 4

    class Free(Base):
        pass

    assert repr(Both()).endswith("Both(a=4, b=2, c=3)")
    assert Both() == Both(4, 2, 3) != Both(4, 2, 5)
    assert Base(4, 2) != Both()
    free = Free(1)
    free.other = 5
    assert free.other == 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        free.a = 3
    del free.other
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
        del free.a


@BOTH
def test_what_is_abstract_stays_so_and_a_reference_to_itself_is_shown_once(dataclass):
    @dataclass
    class Abstract(abc.ABC):
        x: object = None

        @abc.abstractmethod
        def method(self):
            """Is missing."""

    with pytest.raises(TypeError, match="abstract"):
        Abstract()

    class Whole(Abstract):
        def method(self):
            return 1

    whole = Whole()
    whole.x = whole
    assert repr(whole).endswith("Whole(x=...)")


@BOTH
def test_a_name_of_the_library_may_be_a_fields(dataclass):
    @dataclass(frozen=True)
    class Names:
        cls: int
        fields: int = 2
        object: list = field(default_factory=lambda: [1])

    assert (Names(1).cls, Names(1).fields, Names(1).object, Names(1).object is Names(1).object) == (1, 2, [1], False)


def test_the_library_takes_them():
    point = Point(1, [2])
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.asdict(point) == {"x": 1, "y": [2]}
    assert dataclasses.astuple(point) == (1, [2])
    assert dataclasses.replace(point, x=3) == Point(3, [2])
    assert pickle.loads(pickle.dumps(point)) == copy.copy(point) == copy.deepcopy(point) == point
    match point:
        case Point(x, _):
            assert x == 1


def test_a_field_without_a_default_behind_one_that_has_one_is_refused():
    with pytest.raises(TypeError, match="non-default argument follows default argument"):

        @own.dataclass
        class _Wrong:
            a: int = 1
            b: int


def test_the_init_of_a_class_may_be_replaced_before_and_behind_its_first_object(monkeypatch):
    @own.dataclass
    class Replaced:
        x: int

    first, calls = Replaced.__init__, []

    def told(self, x):
        calls.append(x)
        first(self, x)

    monkeypatch.setattr(Replaced, "__init__", told)
    assert [Replaced(1).x, Replaced(2).x, calls] == [1, 2, [1, 2]]
    monkeypatch.undo()
    assert Replaced(3).x == 3
    assert Replaced.__init__ is not first
    assert inspect.signature(Replaced) == inspect.signature(first).replace(
        parameters=list(inspect.signature(first).parameters.values())[1:]
    )
