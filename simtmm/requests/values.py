"""What words of the command line mean: NAME=VALUE, KEY=RANGE, numbers and lists.

Python gives the same by name, as a mapping, which is taken as given.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from simtmm.documents import parsed_toml
from simtmm.errors import KernelError, MachineError, ModelError, StudyError, shown
from simtmm.renamed import MACHINE_KEYS, renamed_with_notice

Value = TypeVar("Value")

FORMS = {
    "--set": "KEY=VALUE",
    "--vary": "KEY=RANGE",
    "--link": "KEY=RANGE;KEY=RANGE",
    "--draw": "KEY=LOW:HIGH",
    "--where": "COLUMN=VALUE",
}


Words = Mapping[str, Any] | Sequence[str] | None  # by name, or as NAME=VALUE


def pairs(words: Words, option: str, error: type[Exception]) -> dict[str, Any]:
    """NAME=VALUE words, each name once: of two values neither is left out silently. A mapping keeps its values.

    option: as messages call it.
    error: what is raised for a word that is none.
    """
    if isinstance(words, Mapping):
        return _named(words, option, error)
    values: dict[str, Any] = {}
    for word in words or []:
        name, value = _pair(word, option, error)
        if name in values:
            raise error(f"{option} {name}: is given twice")
        values[name] = value
    return values


def _named(values: Mapping[Any, Any], option: str, error: type[Exception]) -> dict[str, Any]:
    for name in values:
        if not isinstance(name, str):
            raise error(f"{option} {shown(name)}: must be a name")
    return dict(values)


def _pair(word: str, option: str, error: type[Exception]) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key:
        raise error(f"{option} {word}: must be of the form {FORMS.get(option, 'NAME=VALUE')}")
    return key.strip(), value.strip()


def parameters_of(words: Words) -> dict[str, Any]:
    """A kernel's parameters from NAME=VALUE words."""
    return pairs(words, "--param", KernelError)


def parameter_lists_of(words: list[str] | None) -> dict[str, list[str]]:
    """Several values of each of a kernel's parameters from NAME=VALUE,... words; those of one name are joined.

    words: as the command line has them.
    """
    values: dict[str, list[str]] = {}
    for word in words or []:
        for name, text in parameters_of([word]).items():
            values.setdefault(name, []).extend(value.strip() for value in text.split(","))
    return values


def numbers_of(words: list[str] | None, option: str) -> dict[str, float]:
    """NAME=VALUE words whose values are numbers.

    words: as the command line has them.
    option: as messages call it.
    """
    return {name: _number(text, f"{option} {name}={text}") for name, text in pairs(words, option, ModelError).items()}


def number_lists_of(words: list[str] | None, option: str) -> dict[str, list[float]]:
    """NAME=VALUE,... words whose values are numbers.

    words: as the command line has them.
    option: as messages call it.
    """
    return {
        name: [_number(value, f"{option} {name}={text}") for value in text.split(",")]
        for name, text in pairs(words, option, ModelError).items()
    }


def _number(text: str, word: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ModelError(f"{word}: must be a number") from None


def changes_of(words: Words) -> dict[str, Any]:
    """A machine's keys with new values from KEY=VALUE words; of several for one key the last holds."""
    if isinstance(words, Mapping):
        return _by_new_names(_named(words, "set", MachineError), "set", MachineError)
    values = dict(_pair(word, "--set", MachineError) for word in words or [])
    return _by_new_names({key: _value(text) for key, text in values.items()}, "--set", MachineError)


def ranges_of(words: Words, option: str) -> dict[str, Any]:
    """KEY=RANGE words, the ranges as they stand. A key that comes twice is refused.

    option: as messages call it.
    """
    return _by_new_names(pairs(words, option, StudyError), option, StudyError)


def _by_new_names(values: Mapping[str, Value], option: str, error: type[Exception]) -> dict[str, Value]:
    """The values by machine keys as they are called now. A key that comes by both its names is refused."""
    try:
        return renamed_with_notice(option, values, MACHINE_KEYS)
    except ValueError as both:
        raise error(f"{option}: {both}") from None


def _value(text: str) -> Any:
    """A TOML value; `none` for no value; any other word is a text."""
    if text == "none":
        return None
    try:
        tables = parsed_toml(f"value = {text}")
    except ValueError:  # no TOML, or numbers and nestings that are not taken
        return text
    return tables["value"] if len(tables) == 1 else text  # behind the end of a line there may be more keys
