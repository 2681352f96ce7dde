"""A folder of the papers' figures: each one's values and picture, and an index page over all that lies there."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from simtmm.documents import read_json
from simtmm.errors import OutputError, StudyError
from simtmm.files import check_writable, is_there, written_whole
from simtmm.provenance import provenance
from simtmm.report.accuracy.folder import PAGE as ACCURACY
from simtmm.report.figures.text import reason, title
from simtmm.validation.figures import ITEMS
from simtmm.validation.figures.figure import Figure

FOLDER, INDEX = "figures", "index.md"
DOTS = 110  # to an inch

_HEAD = """\
# The papers' results, recomputed

Made by `simtmm paper reproduce {asked}-o {folder}`, simtmm {version}. Each entry says what was fitted and what was
predicted. Points that only the papers' figures show are not here. Documents: 000 Ma's
dissertation, 001 Rehman's thesis, 002 Ma and Chamberlain (ASAP 2012), 003 FGCS 2017, 004 the first TMM paper.
"""


def check_can_write(folder: Path) -> None:
    """Raise OutputError where the folder can't be written, or nothing can draw."""
    from simtmm.report.pictures.style import check_installed

    check_installed()
    if is_there(folder):
        check_writable(folder / INDEX)
        if (folder / FOLDER).exists():
            check_writable(folder / FOLDER / "any")
        list(read(folder))
    else:
        check_writable(folder)


def make(folder: Path) -> None:
    """Make the folder, where there is none. Raises OutputError."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: can't be created ({error.strerror})") from None


def write(folder: Path, figures: Sequence[Figure], names: Sequence[str]) -> None:
    """Write figures into a folder, all files or none, and the index over those and what lay there before.

    names: those on the command line. Raises OutputError, or StudyError for a file there that is no figure.
    """
    from simtmm.report.pictures.files import png
    from simtmm.report.pictures.paper_figure import picture

    before = {figure.name: figure for figure in read(folder)}
    files: dict[Path, bytes] = {}
    for figure in figures:
        path = folder / FOLDER / figure.name
        document = {**figure.to_dict(), "provenance": provenance()}
        try:
            files[path.with_name(f"{figure.name}.json")] = (
                f"{json.dumps(document, indent=1, allow_nan=False)}\n".encode()
            )
        except ValueError:
            raise StudyError(f"{figure.name}: its values must be finite numbers") from None
        files[path.with_name(f"{figure.name}.csv")] = figure.to_csv().encode()
        if figure.curves:
            files[path.with_name(f"{figure.name}.png")] = png(picture(figure), figure.title, DOTS)
    there = before | {figure.name: figure for figure in figures}
    files[folder / INDEX] = index(folder, there.values(), names).encode()
    make(folder / FOLDER)
    with contextlib.ExitStack() as whole:
        for path, content in files.items():
            whole.enter_context(written_whole(path)).write_bytes(content)


def read(folder: Path) -> Iterator[Figure]:
    """The figures that lie in a folder. Raises StudyError for a file that is none."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        document = read_json(path, StudyError)
        try:
            yield Figure.from_dict(document)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise StudyError(f"{path}: is not a figure of `simtmm paper reproduce`") from None


def index(folder: Path, figures: Iterable[Figure], names: Sequence[str]) -> str:
    """The page, in Markdown."""
    there = {figure.name: figure for figure in figures}
    words = "".join(f"{name} " for name in names) if len(names) <= 3 else f"{names[0]} ... "
    parts = [_HEAD.format(asked=words, folder=folder.name, version=provenance()["simtmm"])]
    if (folder / ACCURACY).exists():
        parts.append(f"Measured and simulated times compared: [{ACCURACY}]({ACCURACY}).\n")
    parts += [_entry(there[name]) for name in ITEMS if name in there]
    missing = [name for name, item in ITEMS.items() if item.makes and name not in there]
    if missing:
        parts.append(f"Not in this folder: {', '.join(missing)}.\n")
    parts.append("## Not reproduced\n")
    parts.append("\n".join(f"- {name}: {reason(item)}" for name, item in ITEMS.items() if reason(item)) + "\n")
    same = [item for item in ITEMS.values() if item.same and not reason(item)]
    parts.append("\n".join(f"- {item.name}: {title(item)}" for item in same) + "\n")
    return "\n".join(parts)


def _entry(figure: Figure) -> str:
    path = f"{FOLDER}/{figure.name}"
    facts = [
        f"- Source: {figure.source}",
        f"- Fitted: {figure.fitted}",
        f"- Predicted: {figure.predicted}",
        f"- Values: [CSV]({path}.csv), [JSON]({path}.json)",
        f"- Made by: `simtmm paper reproduce {figure.name} -o FOLDER`",
    ]
    parts = [f"## {figure.name}: {figure.title}\n", "\n".join(facts) + "\n"]
    if figure.curves:
        parts.append(f"![{figure.title}]({path}.png)\n")
    else:
        parts.append(_markdown(figure))
    return "\n".join([*parts, *(f"{note}\n" for note in figure.notes)])


def _markdown(figure: Figure) -> str:
    columns, rows = figure.table()
    lines = [list(columns), ["---"] * len(columns)]
    lines += [[cell if isinstance(cell, str) else f"{cell:,.6g}" for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines) + "\n"
