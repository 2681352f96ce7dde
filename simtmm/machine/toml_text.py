"""A machine as the text of a TOML file."""

import json
from collections.abc import Mapping
from typing import Any

from simtmm.machine.spec import Machine
from simtmm.machine.spelled import WHOLE

BY_DOTTED_KEY = ("changes", "sources")  # tables whose keys are dotted keys, and stand in quotes


def machine_toml(machine: Machine) -> str:
    """A machine as a TOML file, which `load_machine` reads back as the same machine, sources included.

    What it took from its family stands in the file: it does not change when the family does.
    """
    tables = machine.to_dict()
    is_changed = tables.get("changes") is not None  # an empty table of changes is one, too
    apart = {key: tables.pop(key, None) or {} for key in BY_DOTTED_KEY}
    if machine.family is not None:
        tables = {key: value for key, value in tables.items() if not isinstance(value, dict)} | {WHOLE: True} | tables
    lines: list[str] = []

    def write(table: Mapping[str, Any], name: str) -> None:
        lines.extend(f"{key} = {as_toml(value)}" for key, value in table.items() if not isinstance(value, dict))
        for key, value in table.items():
            if isinstance(value, dict):
                inner = f"{name}.{key}".lstrip(".")
                lines.extend(["", f"[{inner}]"])
                write(value, inner)

    write(tables, "")
    if is_changed:
        lines.extend(["", "[changes]"])
        lines.extend(f"{as_toml(key)} = {as_toml(change)}" for key, change in apart["changes"].items())
    if apart["sources"]:
        lines.extend(["", "[sources]"])
        for key, source in apart["sources"].items():
            inner = ", ".join(f"{name} = {as_toml(text)}" for name, text in source.items() if text or name != "note")
            lines.append(f"{as_toml(key)} = {{ {inner} }}")
    return "\n".join(lines) + "\n"


def as_toml(value: object) -> str:
    """A value as TOML and JSON alike write it, in ASCII; but TOML has no pairs of surrogates, and no bare delete.

    value: a truth, a number, a text, or a list or table of these.
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and "\x7f" not in text else "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    if letter.isascii() and letter != "\x7f":
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) < 1 << 16 else f"\\U{ord(letter):08x}"
