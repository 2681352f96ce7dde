"""A study as one HTML file: plots that one can point at, zoom and turn over, and the table they draw.

The file needs nothing beside it and no network: data, style and script (page.html, page.css, page.js) are inside, and
its content policy forbids anything else. Any table of rows makes a page; a study is one. What other pages have, too,
stands in frame.html, frame.css and frame.js, and `document` puts them together.
"""

import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.documents import parsed_json
from simtmm.errors import OutputError, StudyError, nearest, shown_error
from simtmm.files import is_file, write_text, written_whole
from simtmm.machine import units
from simtmm.provenance import provenance

if TYPE_CHECKING:
    import pyarrow

    from simtmm.report.studies.answers import Answer
    from simtmm.study.results import Results

HERE = Path(__file__).parent
MOST_CELLS = 5_000_000  # of a page: a browser holds them all
STORES = (".sqlite", ".db")
EARLIER = "computed earlier"  # what a page says of points that were
STATUS = "status"  # the first column of a study's table that is no axis
RESULTS = {STATUS, "reason", "series", "cycles", "seconds", "bound", "error_percent"}

Value = int | float | str | bool | None


@dataclass(frozen=True)
class Table:
    """What a page shows.

    columns: values by name, all of one length; None where there is none. axes: the names of the columns that were
    chosen; the others came out. units: by name; columns that end in `seconds` and `cycles` need none. about: where it
    comes from, in words. fixed: what all rows have in common and no column says: parameters, and the `machine`. scales:
    "log" or "linear", by axis, where it is known how its values were chosen. answers: gives those of a study
    (report/studies/answers.py), which a page shows and which take a while to find. Raises OutputError for columns of
    different lengths and axes that are no columns.
    """

    title: str
    columns: Mapping[str, Sequence[Value]]
    axes: Sequence[str]
    units: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Value] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)
    answers: "Callable[[], Sequence[Answer]]" = tuple

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise OutputError(f"{self.title}: columns of different lengths: {lengths}")
        for name in self.axes:
            if name not in self.columns:
                raise OutputError(f"{self.title}: axis {name!r}: no such column{nearest(name, self.columns)}")
        if len(lengths) * len(self) > MOST_CELLS:
            raise OutputError(f"{self.title}: {len(self)} rows of {len(lengths)} values are too many for a page")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @classmethod
    def from_rows(cls, title: str, rows: Sequence[Mapping[str, Value]], axes: Sequence[str], **more: Any) -> "Table":
        """From a dict a row; a column is there if any row has it."""
        names = dict.fromkeys(name for row in rows for name in row)
        return cls(title, {name: [row.get(name) for row in rows] for name in names}, axes, **more)

    @classmethod
    def from_arrow(cls, title: str, table: "pyarrow.Table", axes: Sequence[str] | None = None, **more: Any) -> "Table":
        """From an Arrow table. axes: those before the first result, if left out."""
        columns = {name: table.column(name).to_pylist() for name in table.column_names if name != "number"}
        if axes is None:
            first = next((place for place, name in enumerate(columns) if name in RESULTS), 0)
            axes = list(columns)[:first]
        return cls(title, columns, axes, **more)

    @classmethod
    def from_study(cls, study: "Results") -> "Table":
        """From a study, as `simtmm sweep` makes it."""
        from simtmm.report.studies.answers import answers, earlier, reasons
        from simtmm.study.design.in_common import in_common, scales
        from simtmm.study.findings import findings

        counts = {name: study.number(name) for name in ("done", "skipped", "failed", "open")}
        about = {
            "program": study.design.subject.name,
            "points": ", ".join(f"{number:,} {name}" for name, number in counts.items() if number),
            "study": json.dumps(study.design.study.model_dump(by_alias=True, exclude_defaults=True)),
        }
        if study.earlier:
            about[EARLIER] = "; ".join(earlier(study))
        known = units()
        own = {name: known[name][0] for name in study.design.axes if name in known and known[name][0]}
        return cls.from_arrow(
            study.design.subject.name,
            study.to_table(),
            list(study.design.axes),
            units=own,
            about=about,
            fixed=in_common(study.design),
            scales=scales(study.design),
            answers=lambda: [*reasons(study), *answers(study, findings(study))],
        )


def load_table(path: str | Path, axes: Sequence[str] | None = None) -> Table:
    """The table in a file: a study's store (.sqlite), a study file (.toml) whose store is there, .parquet or .csv.

    axes: of a .parquet or .csv file; if left out, the columns before the first result. Raises StudyError.
    """
    path = Path(path)
    if path.suffix in (*STORES, ".toml"):
        if axes:
            raise StudyError(f"{path}: axes can only be named for .parquet and .csv; a study has its own")
        return Table.from_study(_study(path))
    if path.suffix not in (".parquet", ".csv"):
        raise StudyError(f"{path}: must be a study's store (.sqlite), a study (.toml), or a table (.parquet, .csv)")
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    try:
        table = pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException, UnicodeError) as error:
        raise StudyError(f"{path}: can't be read ({shown_error(error)})") from None
    about = {}
    with contextlib.suppress(ValueError):  # the words of another program
        metadata = parsed_json((table.schema.metadata or {}).get(b"simtmm", b"{}"), own=())
        if isinstance(metadata, dict):
            about = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    return Table.from_arrow(path.stem, table, axes, about={"table": path.name, **about})


def _study(path: Path) -> "Results":
    from simtmm.study.design.stored_design import as_found, stored_design, stored_design_file
    from simtmm.study.design.study_file import read_study
    from simtmm.study.store.store import Store
    from simtmm.study.sweep import read

    there = path
    if path.suffix == ".toml":
        read_study(path)  # its own errors come before those of its store
        stores = [Path(f"{path.stem}.sqlite"), path.with_suffix(".sqlite")]
        there = next((store for store in stores if is_file(store)), path)
        if there == path:
            raise StudyError(f"{path}: no store {stores[0]}: run simtmm sweep {path} first")
    with Store(there, make=False) as store:
        document = store.study()
        if document is None:
            raise StudyError(f"{there}: has no study")
        if there == path:
            return read(as_found(stored_design(document, str(path))), store)
        return read(as_found(stored_design_file(path, document, str(there))), store)


def page(table: Table) -> str:
    """The HTML."""
    results = len(table.columns) - len(table.axes)
    number = f"{len(table):,} row{'s' * (len(table) != 1)}"
    chosen = f"{len(table.axes)} ax{'es' if len(table.axes) != 1 else 'is'}"
    metadata = {**table.about, **{name: str(value) for name, value in provenance().items()}}
    data = {
        "summary": f"{number}, {chosen}, {results} result{'s' * (results != 1)}",
        "columns": {name: [_plain(value) for value in values] for name, values in table.columns.items()},
        "axes": list(table.axes),
        "units": dict(table.units),
        "answers": [asdict(answer) for answer in table.answers()],
        "about": {name: str(value) for name, value in metadata.items()},
    }
    return document("page", table.title, data)


def document(name: str, title: str, data: Mapping[str, Any], folder: Path = HERE, more: Sequence[str] = ()) -> str:
    """A page that needs nothing beside it and may load nothing.

    name: of its files .html (what it shows), .css and .js in the folder. data: what JSON can hold; the script finds it
    as `frame.data`, and under "about" where it comes from. more: names of further files .css and .js there.
    """

    def read(suffix: str) -> str:
        paths = [HERE / f"frame{suffix}", *(folder / f"{each}{suffix}" for each in (name, *more))]
        return "\n".join(path.read_text(encoding="utf-8").strip() for path in paths)

    body = (folder / f"{name}.html").read_text(encoding="utf-8").strip()
    parts = {
        "TITLE": escape(title),
        "STYLE": read(".css"),
        "SCRIPT": read(".js"),
        # "<" within data could end the element it stands in
        "DATA": json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    }
    shell = (HERE / "frame.html").read_text(encoding="utf-8").replace("@BODY@", body)
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], shell)


def write_page(path: str | Path, table: Table) -> None:
    """Write the page. Raises OutputError."""
    text = page(table)
    with written_whole(path) as temporary:
        write_text(temporary, text)


def _plain(value: Value) -> Value:
    """What JSON can hold: no infinity, no nan; and no truth values, which plots would take for numbers."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, int | float | str) else str(value)
