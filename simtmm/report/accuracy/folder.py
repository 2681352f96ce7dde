"""A folder of accuracy: accuracy.md, and accuracy/ with data, CSV and picture of each table; written, and checked.

Only the JSON files are stored data; all else is derived from them, so that a reproduction that is run alone leaves the
others unchanged.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from simtmm.errors import OutputError, StudyError
from simtmm.files import check_writable, written_whole
from simtmm.report.accuracy.glance import PICTURE
from simtmm.report.accuracy.tables import FOLDER, accuracy_csv, page
from simtmm.validation.accuracy import Accuracy
from simtmm.validation.cases import Tables
from simtmm.validation.glance import Row, glance
from simtmm.validation.snapshot import differences, errors_follow, keep, ordered, read

PAGE = "accuracy.md"
LEDGER = "ledger.csv"  # how far off tables were, landing by landing (tests/validation/ledger.py)
PNG_END = b"IEND\xaeB`\x82"
DOTS = 110  # of a picture, to an inch: sharp enough to read, and small


def check_can_write(folder: Path) -> None:
    """Raise OutputError or StudyError if `write` would fail: to be called before long work, not after it."""
    from simtmm.report.pictures.style import check_installed

    check_installed()
    check_writable(folder / PAGE)
    if (folder / FOLDER).exists():
        check_writable(folder / FOLDER / "any")
    read(folder / FOLDER)


def check_is_there(folder: Path) -> None:
    """Raise StudyError where there is nothing to be checked."""
    if not read(folder / FOLDER):
        raise StudyError(f"{folder / FOLDER}: holds no tables; `simtmm paper reproduce -o {folder}` writes them")


def write(folder: Path, tables: Mapping[str, Tables]) -> None:
    """Write tables, by reproduction, into a folder: all files or none. Tables of other reproductions stay unchanged;
    those that a reproduction of `tables` no longer gives are removed.

    Raises OutputError or StudyError.
    """
    from simtmm.report.pictures.accuracy import picture
    from simtmm.report.pictures.files import png
    from simtmm.report.pictures.glance import picture as glance_picture

    check_can_write(folder)
    before = read(folder / FOLDER)
    new = keep(tables)
    names = {kept.accuracy.name for kept in new}
    others = [kept for kept in before if kept.reproduction not in tables and kept.accuracy.name not in names]
    files: dict[Path, bytes] = {}
    for kept in new:
        data, values, drawn = _files(folder, kept.accuracy.name)
        files[data] = kept.to_json().encode()
        files[values] = accuracy_csv(kept.accuracy).encode()
        files[drawn] = png(picture(kept.accuracy), digest(kept.accuracy), DOTS)
    every = ordered([*others, *new])
    rows = glance([kept.accuracy for kept in every])
    if rows:
        files[_glance(folder)] = png(glance_picture(rows), digest_of_glance(rows), DOTS)
    files[folder / PAGE] = page(every, folder.resolve().name).encode()
    try:
        (folder / FOLDER).mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder / FOLDER}: can't be created ({error.strerror})") from None
    with contextlib.ExitStack() as whole:
        for path, content in files.items():
            whole.enter_context(written_whole(path)).write_bytes(content)
    gone = {kept.accuracy.name for kept in before} - names - {kept.accuracy.name for kept in others}
    for path in (path for name in gone for path in _files(folder, name)):
        path.unlink(missing_ok=True)


def tables_of(folder: Path, reproductions: Collection[str]) -> dict[str, Tables]:
    """The tables of these reproductions as they lie in a folder. Raises StudyError."""
    found: dict[str, list[Accuracy]] = {name: [] for name in reproductions}
    for kept in ordered(read(folder / FOLDER)):
        if kept.reproduction in found:
            found[kept.reproduction].append(kept.accuracy)
    return {name: tuple(tables) for name, tables in found.items()}


def check(folder: Path, tables: Mapping[str, Tables]) -> tuple[str, ...]:
    """A line for each figure in a folder that is not what was reproduced, or is worse than promised, and for each file
    that does not follow from the stored data. Tables of reproductions that were not run are not looked at.

    Raises StudyError where a file of data can't be read.
    """
    kept = read(folder / FOLDER)
    chosen = [table.accuracy for table in kept if table.reproduction in tables]
    return (*differences(kept, tables), *_derived(folder, chosen))


def underived(folder: Path) -> tuple[str, ...]:
    """A line for each file of a folder that does not follow from the tables kept in it. Raises StudyError."""
    return _derived(folder, [kept.accuracy for kept in read(folder / FOLDER)])


def _derived(folder: Path, tables: Iterable[Accuracy]) -> tuple[str, ...]:
    kept = read(folder / FOLDER)
    lines = []
    for table in tables:
        data, values, drawn = _files(folder, table.name)
        if not errors_follow(json.loads(_content(data)).get("errors"), table):
            lines.append(f"{data}: errors: do not follow from its points")
        if _content(values) != accuracy_csv(table).encode():
            lines.append(f"{values}: does not follow from {data.name}")
        content = _content(drawn)
        if digest(table).encode() not in content or not content.endswith(PNG_END):
            lines.append(f"{drawn}: is not the picture of {data.name}")
    known = {path for table in kept for path in _files(folder, table.accuracy.name)}
    known.add(folder / FOLDER / LEDGER)
    rows = glance([table.accuracy for table in kept])
    if rows:
        known.add(_glance(folder))
        content = _content(_glance(folder))
        if digest_of_glance(rows).encode() not in content or not content.endswith(PNG_END):
            lines.append(f"{_glance(folder)}: is not the picture of the tables")
    lines += [f"{path}: belongs to no table" for path in sorted((folder / FOLDER).iterdir()) if path not in known]
    if _content(folder / PAGE) != page(kept, folder.resolve().name).encode():
        lines.append(f"{folder / PAGE}: does not follow from {folder / FOLDER}{os.sep}*.json")
    return tuple(lines)


def digest(accuracy: Accuracy) -> str:
    """A hash of all that a picture shows. Pictures carry it, as their bytes depend on the version of matplotlib."""
    shown = f"{accuracy.title}|{accuracy.quantity}|{accuracy.along}|{accuracy.reference}\n{accuracy_csv(accuracy)}"
    return f"data {hashlib.sha256(shown.encode()).hexdigest()[:16]}"


def digest_of_glance(rows: Sequence[Row]) -> str:
    """Likewise, of the picture of all tables."""
    return f"data {hashlib.sha256(repr(rows).encode()).hexdigest()[:16]}"


def _glance(folder: Path) -> Path:
    return folder / FOLDER / f"{PICTURE}.png"


def _files(folder: Path, name: str) -> tuple[Path, Path, Path]:
    """A table's data, values and picture."""
    data, values, drawn = (folder / FOLDER / f"{name}{suffix}" for suffix in (".json", ".csv", ".png"))
    return data, values, drawn


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
