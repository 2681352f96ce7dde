"""`dataclass` as Python's own library has it, for a package that makes hundreds of them before it does anything.

The library compiles each method of a class by itself, some six of them: half a millisecond a class, a tenth of what a
short command takes. Here only `__init__` is compiled, for the first object; the others are functions that know the
names of the fields.

The classes are dataclasses to the library: its `fields`, `replace`, `asdict` and `is_dataclass` take them.
"""

import dataclasses
import operator
import reprlib
import sys
import types
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

Fields = tuple[dataclasses.Field[Any], ...]


class _NotGiven:
    def __repr__(self) -> str:
        return "<factory>"  # as the library shows it in signatures


_NOT_GIVEN = _NotGiven()  # what stands for a value that a factory makes


def _dataclass(
    cls: type | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,  # noqa: A002 - as the library calls it
    eq: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
) -> Any:
    """A class with the methods that its annotated fields ask for, as `dataclasses.dataclass` makes it.

    Arguments mean what they mean there; a class has no `InitVar`, and defines no `__setattr__` where it is frozen.

    Raises TypeError as the library does.
    """

    def made(cls: type) -> type:
        fields = _fields(cls, kw_only)
        if init:
            _add(cls, "__init__", _init(cls, fields, frozen))
        if repr:
            _add(cls, "__repr__", _repr([each.name for each in fields if each.repr]))
        if eq:
            _add_comparison(cls, fields, frozen)
        if frozen:
            _freeze(cls, frozenset(each.name for each in fields))
        return cls

    return made if cls is None else made(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


def _fields(cls: type, kw_only: bool) -> Fields:
    """The fields of a class, as the library finds them; it makes a docstring of the signature where there is none."""
    is_told = cls.__doc__ is not None
    if not is_told:
        cls.__doc__ = cls.__name__
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    if not is_told:
        cls.__doc__ = None
    return dataclasses.fields(cls)


def _add(cls: type, name: str, method: Callable[..., Any], instead: bool = False) -> None:
    """Have a class have a method, unless it defines one of that name. instead: of that one."""
    if instead or name not in cls.__dict__:
        method.__name__, method.__qualname__, method.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
        setattr(cls, name, method)


def _init(cls: type, fields: Fields, frozen: bool) -> Callable[..., None]:
    """`__init__`, which is compiled for the first object: a command makes none of most classes.

    Raises TypeError for a field without a default behind one that has one.
    """
    made: list[Callable[..., None]] = []
    names, compiled, add = _names_of_module(cls), _compiled_init, _add  # for `first`, which has the module's names

    def first(self: Any, *values: Any, **named: Any) -> None:
        if not made:
            made.append(compiled(cls, fields, frozen, names))
        if cls.__dict__["__init__"] is method:
            add(cls, "__init__", made[0], instead=True)
        made[0](self, *values, **named)

    method = types.FunctionType(first.__code__, names, "__init__", None, first.__closure__)
    method.__annotations__ = _annotations(fields)
    own = [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY if each.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=_default(each),
            annotation=each.type,
        )
        for each in sorted(fields, key=lambda each: bool(each.kw_only))
        if each.init
    ]
    try:
        signature = Signature([Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *own], return_annotation=None)
    except ValueError as error:
        raise TypeError(f"{cls.__name__}: {error}") from None
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _names_of_module(cls: type) -> dict[str, Any]:
    """The names of a class's module, where annotations that are texts are looked up."""
    return vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}


def _annotations(fields: Fields) -> dict[str, Any]:
    return {each.name: each.type for each in fields if each.init} | {"return": None}


def _default(field: dataclasses.Field[Any]) -> Any:
    """What a parameter of `__init__` has where it is not given; Parameter.empty where it must be."""
    if field.default is not dataclasses.MISSING:
        return field.default
    return Parameter.empty if field.default_factory is dataclasses.MISSING else _NOT_GIVEN


def _compiled_init(cls: type, fields: Fields, frozen: bool, names: dict[str, Any]) -> Callable[..., None]:
    """`__init__` in the names of a module, with what is known here beside these."""
    known: dict[str, Any] = {"_fields_not_given": _NOT_GIVEN, "_fields_set": object.__setattr__}
    given = {each.name: each for each in fields if each.init}
    words = dict.fromkeys(given, "")
    for name, each in given.items():
        if _default(each) is not Parameter.empty:
            known[f"_default_of_{name}"], words[name] = _default(each), f"=_default_of_{name}"
    in_order = [f"{name}{words[name]}" for name, each in given.items() if not each.kw_only]
    named = [f"{name}{words[name]}" for name, each in given.items() if each.kw_only]
    lines = []
    for each in fields:
        value = each.name
        if each.default_factory is not dataclasses.MISSING:
            made = f"_factory_of_{each.name}()"
            value = f"{made} if {each.name} is _fields_not_given else {each.name}" if each.init else made
            known[f"_factory_of_{each.name}"] = each.default_factory
        elif not each.init:
            continue
        lines.append(f"_fields_set(self, {each.name!r}, {value})" if frozen else f"self.{each.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *in_order, *(["*", *named] if named else [])])
    text = "\n  ".join([f" def __init__({parameters}):", *(lines or ["pass"])])
    made_in: dict[str, Any] = {}
    code = f"def make({', '.join(known)}):\n{text}\n return __init__"
    exec(code, names, made_in)  # noqa: S102 - names of fields, as the library has it
    method: Callable[..., None] = made_in["make"](**known)
    method.__annotations__ = _annotations(fields)
    return method


def _repr(names: list[str]) -> Callable[[Any], str]:
    @reprlib.recursive_repr()
    def shown(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return shown


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives the values of fields of what it is called with."""
    if len(names) > 1:
        return operator.attrgetter(*names)
    if not names:
        return lambda one: ()
    only = operator.attrgetter(names[0])
    return lambda one: (only(one),)


def _add_comparison(cls: type, fields: Fields, frozen: bool) -> None:
    """`__eq__`; and `__hash__` where the class is frozen, or none where it isn't, unless it defines one."""
    values = _values_of([each.name for each in fields if each.compare])

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    of_class = cls.__dict__.get("__hash__", _NOT_GIVEN)
    defines = of_class is not _NOT_GIVEN and not (of_class is None and "__eq__" in cls.__dict__)  # which takes it away
    _add(cls, "__eq__", equal)
    if defines:
        return
    if not frozen:
        cls.__hash__ = None  # type: ignore[assignment]
        return
    hashed = _values_of([each.name for each in fields if (each.compare if each.hash is None else each.hash)])

    def own_hash(self: Any) -> int:
        return hash(hashed(self))

    own_hash.__name__, own_hash.__qualname__ = "__hash__", f"{cls.__qualname__}.__hash__"
    cls.__hash__ = own_hash  # type: ignore[assignment, method-assign]


def _freeze(cls: type, names: frozenset[str]) -> None:
    """Have fields keep the values that `__init__` gave them; a class that is made of this one may have other ones."""

    def assign(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[arg-type]

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[arg-type]

    _add(cls, "__setattr__", assign)
    _add(cls, "__delattr__", delete)
