"""Documents that users write, as models of pydantic: rules of values in words, and one line for what is wrong."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from simtmm.errors import SimtmmError, nearest, shown

Model = TypeVar("Model", bound=BaseModel)
TABLES = ("dict_type", "model_type", "model_attributes_type")  # what pydantic calls it that a value is no table


def must_be(words: str, holds: Callable[[Any], bool]) -> BeforeValidator:
    """A rule of a field: what holds of its values, which are taken as the document has them.

    words: what a value must be, as the line for one that is not ends. holds: whether a value is that.
    """

    def check(value: Any) -> Any:
        if not holds(value):
            raise PydanticCustomError("must_be", "must be {words}", {"words": words})
        return value

    return BeforeValidator(check)


def whole(least: int, most: int) -> BeforeValidator:
    """The rule of whole numbers from `least` to `most`, which no truth is."""
    return must_be(
        f"a whole number from {least} to {most}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most,
    )


def document_of(
    model: type[Model], tables: Mapping[str, Any], origin: str, error: type[SimtmmError], is_json: bool = False
) -> Model:
    """A document, checked. Raises `error` for the first thing that is wrong, keys that nobody knows before all else.

    model: what its tables may hold. tables: as TOML or JSON has them. origin: the file, for messages.
    is_json: whether it is JSON, whose tables are called objects, and paths written as one: "rows[0].size".
    """
    try:
        return model.model_validate(dict(tables))
    except ValidationError as failure:
        wrong = failure.errors(include_url=False)
        first = min(wrong, key=lambda each: each["type"] != "extra_forbidden")
        raise error(complaint(model, first, origin, is_json)) from None


def complaint(model: type[BaseModel], wrong: ErrorDetails, origin: str, is_json: bool = False) -> str:
    """One line for what is wrong: the file, the table if it is one of several, the key, the value, what is allowed.

    model: of the document. wrong: as pydantic has it. origin: the file. is_json: as of `document_of`.
    """
    where, key = origin, ""
    for part in wrong["loc"]:
        if isinstance(part, int) and is_json:
            key = f"{key}[{part}]"
        elif isinstance(part, int):
            where, key = f"{where}: {key}[{part}]", ""
        else:
            key = f"{key}.{part}".lstrip(".")
    if wrong["type"] == "extra_forbidden":
        return f"{where}: unknown key {shown(key)}{nearest(key, _fields_at(model, wrong['loc'][:-1]))}"
    if wrong["type"] == "missing":
        return f"{where}: {key!r} is missing"
    allowed = wrong["msg"]
    if wrong["type"] in TABLES:
        allowed = "must be an object" if is_json else "must be a table"
    elif wrong["type"] == "list_type":
        allowed = "must be a list"
    return f"{where}{': ' if key else ''}{key} = {shown(wrong['input'])}: {allowed}"


def _fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The keys of the table at a path in a document."""
    for part in path:
        if isinstance(part, str):
            kind = model.model_fields[part].annotation
            model = next((each for each in (kind, *get_args(kind)) if _is_model(each)), model)
    return list(model.model_fields)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
