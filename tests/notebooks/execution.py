"""Cells executed one after another: what each prints, and how its value shows itself."""

import ast
import base64
import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

METHODS = {"text/html": "_repr_html_", "image/png": "_repr_png_"}  # by which values show themselves, beside repr
WIDTH = 100  # letters of a stored line of base64: a change of a picture is then a change of lines


def executed(cells: list[dict[str, Any]], where: str) -> Iterator[list[dict[str, Any]]]:
    """The outputs of each code cell, in order; an error in a cell is raised with the place of the cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, start=1):
        if cell["cell_type"] == "code":
            yield _outputs("".join(cell["source"]), f"{where}, cell {number}", names)


def _outputs(source: str, where: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    statements = ast.parse(source, where)
    last = statements.body[-1] if statements.body else None
    if isinstance(last, ast.Expr):
        statements.body.pop()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(statements, where, "exec"), names)
        value = eval(compile(ast.Expression(last.value), where, "eval"), names) if isinstance(last, ast.Expr) else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        outputs.append({"output_type": "execute_result", "execution_count": None, **_shown(value)})
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    metadata = {}
    for kind, method in METHODS.items():
        if not hasattr(value, method):
            continue
        made = getattr(value, method)()
        if isinstance(made, tuple):
            made, metadata[kind] = made
        if isinstance(made, bytes):
            text = base64.b64encode(made).decode()
            data[kind] = [text[at : at + WIDTH] + "\n" for at in range(0, len(text), WIDTH)]
        else:
            data[kind] = made.splitlines(keepends=True)
    return {"data": data, "metadata": metadata}


def notebooks() -> list[Path]:
    """Those of docs/notebooks, in the order in which they are read."""
    return sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
