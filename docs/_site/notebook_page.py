"""A notebook as a page: its text as it is, its cells as code, its stored outputs below them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def markdown_of(path: Path) -> str:
    """The Markdown of a notebook's file."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield _output(output)


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text'])}```"
    data = output["data"]
    plain = "".join(data["text/plain"])
    if "image/png" in data:
        encoded = "".join(line.strip() for line in data["image/png"])
        width = output["metadata"]["image/png"]["width"]
        return f'<img src="data:image/png;base64,{encoded}" width="{width}" alt="{plain}">'
    if "text/html" in data:
        return "".join(line.strip() for line in data["text/html"])
    return f"```text\n{plain}\n```"
