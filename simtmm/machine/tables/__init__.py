"""The tables of a machine file: their keys, units, meaning, and what is allowed.

The keys are those of docs/machine.md, section 8; `units` lists them all.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from simtmm.machine.values import Table


class Source(Table):
    """Where a value comes from and how sure it is."""

    source: str
    certainty: Literal[
        "measured",
        "confirmed",
        "paper",
        "derived",
        "secondhand",
        "config",
        "family",
        "unconfirmed",
        "assumption",
        "definition",
        "user",
    ]
    note: str = ""


def units_of(tables: Mapping[str, type[BaseModel]]) -> dict[str, tuple[str, str]]:
    """Unit and meaning of every key of these tables, by dotted key; `tables` are named by theirs."""
    found: dict[str, tuple[str, str]] = {}
    for prefix, table in tables.items():
        for name, field in table.model_fields.items():
            extra = field.json_schema_extra
            if isinstance(extra, dict) and field.description:
                found[f"{prefix}.{name}".lstrip(".")] = (str(extra["unit"]), field.description)
    return found
