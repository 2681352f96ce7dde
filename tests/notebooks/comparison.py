"""A notebook's stored outputs beside those of an execution."""

import json
from pathlib import Path
from typing import Any

from tests.notebooks.execution import executed


def differences(path: Path) -> list[str]:
    """Where a notebook shows anything else than it gives, a line each."""
    document = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    found = []
    for cell, outputs in zip(code, executed(document["cells"], path.name), strict=True):
        stored, given = ([_compared(output) for output in each] for each in (cell["outputs"], outputs))
        if stored != given:
            found.append(f"{path.name}, {cell['id']}: is stored as {stored}, and gives {given}")
    return found


def write(path: Path) -> None:
    """Store the outputs of an execution in the notebook."""
    document = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(code, executed(document["cells"], path.name), strict=True), start=1):
        cell["execution_count"] = number
        cell["outputs"] = [
            {**output, "execution_count": number} if "execution_count" in output else output for output in outputs
        ]
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _compared(output: dict[str, Any]) -> Any:
    """What must be the same: texts. Of pictures, that there is one: pixels are matplotlib's, and change with it."""
    if output["output_type"] == "stream":
        return "".join(output["text"])
    data = output["data"]
    return {"kinds": sorted(data), "text": "".join(data["text/plain"])}
