"""A machine as the text of a TOML file."""

import json
from collections.abc import Mapping
from typing import Any

from simtmm.machine.spec import Machine


def machine_toml(machine: Machine) -> str:
    """A machine as a TOML file, which `load_machine` reads back as the same machine, sources included."""
    tables = machine.to_dict()
    sources = tables.pop("sources")
    lines: list[str] = []

    def write(table: Mapping[str, Any], name: str) -> None:
        lines.extend(f"{key} = {json.dumps(value)}" for key, value in table.items() if not isinstance(value, dict))
        for key, value in table.items():
            if isinstance(value, dict):
                inner = f"{name}.{key}".lstrip(".")
                lines.extend(["", f"[{inner}]"])
                write(value, inner)

    write(tables, "")
    if sources:
        lines.extend(["", "[sources]"])
        for key, source in sources.items():
            inner = ", ".join(f"{name} = {json.dumps(text)}" for name, text in source.items() if text)
            lines.append(f"{json.dumps(key)} = {{ {inner} }}")
    return "\n".join(lines) + "\n"
