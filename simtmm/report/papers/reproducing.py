"""Tables and figures made one by one, each written as it is done; a call that was ended goes on where it was."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from simtmm.documents import read_json
from simtmm.errors import OutputError, StudyError
from simtmm.files import shipped_folders, written_whole
from simtmm.provenance import sources
from simtmm.report.accuracy import folder as accuracy_folder
from simtmm.report.figures import folder as figure_folder
from simtmm.validation import cases
from simtmm.validation import figures as papers
from simtmm.validation.cases import Tables
from simtmm.validation.figures.figure import Figure
from simtmm.watch import Watch

logger = logging.getLogger("simtmm")

NAME = ".reproduce-unfinished.json"


def reproduced_into(
    folder: Path | None,
    chosen: Sequence[str],
    wanted: Sequence[str],
    names: Sequence[str],
    watch: Watch | None = None,
    workers: int | None = None,
) -> tuple[dict[str, Tables], dict[str, Figure]]:
    """The tables of reproductions, and figures, by name; those that a call that was ended has made are read.

    folder: where each is written as it is done; None to write nothing. chosen: reproductions. wanted: figures. names:
    those on the command line, for the index.
    workers: processes that simulate; as many as there are cores if left out.

    Raises StudyError, OutputError, and what a simulation ends in.
    """
    unfinished = None if folder is None else Unfinished(folder, [*chosen, *wanted])
    done = set(unfinished.done if unfinished is not None else ())
    tables: dict[str, Tables] = {}
    figures: dict[str, Figure] = {}
    if folder is not None and done:
        tables = accuracy_folder.tables_of(folder, done.intersection(chosen))
        figures = {figure.name: figure for figure in figure_folder.read(folder) if figure.name in done}

    def keep_tables(name: str, made: Tables) -> None:
        if folder is not None and unfinished is not None:
            accuracy_folder.write(folder, {name: made})
            unfinished.add([name])

    def keep_figures(made: Sequence[Figure]) -> None:
        if folder is not None and unfinished is not None:
            figure_folder.write(folder, made, names)
            unfinished.add([figure.name for figure in made])

    if left := [name for name in chosen if name not in tables]:
        tables |= cases.reproduce(left, watch, workers, keep_tables)
    own_names = [name for of in papers.makers(wanted).values() for name in of]
    if left := [name for name in own_names if name not in figures]:
        figures |= papers.figures(left, watch, workers, keep_figures)
    if unfinished is not None:
        unfinished.end()
    order = [name for name in papers.ITEMS if name in figures and name in own_names]
    return {name: tables[name] for name in chosen}, {name: figures[name] for name in order}


class Unfinished:
    """What of a list of names is done in a folder. Its file is there from the first that is done to the last."""

    def __init__(self, folder: Path, asked: Sequence[str]) -> None:
        """Read what the call before has left, if it asked for the same, and nothing that decides a value has changed.

        Raises StudyError for a file that is not of this kind.
        """
        self._path, self._asked = folder / NAME, list(asked)
        self._made_by = ""  # not known yet
        self.done: list[str] = []
        if not self._path.exists():
            return
        document = read_json(self._path, StudyError)
        done = document.get("done") if isinstance(document, dict) else None
        if not isinstance(done, list) or not all(isinstance(name, str) for name in done):
            raise StudyError(f"{self._path}: is not a state that `simtmm paper reproduce` saved: remove it")
        if document.get("asked") != self._asked:
            logger.warning("%s: an earlier, interrupted call had other names: starting over", folder)
        elif document.get("made_by") != _made_by():
            logger.warning("%s: simtmm has changed since the interrupted call: starting over", folder)
        else:
            self.done = done
            logger.warning("%s: continuing an interrupted call: %d done", folder, len(done))

    def add(self, names: Sequence[str]) -> None:
        """These are done. Raises OutputError where that can't be written."""
        self.done += names
        self._made_by = self._made_by or _made_by()
        document = {"asked": self._asked, "made_by": self._made_by, "done": self.done}
        with written_whole(self._path) as path:
            path.write_text(json.dumps(document, indent=1), encoding="utf-8")

    def end(self) -> None:
        """All is done. Raises OutputError where the file can't be removed."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self._path}: can't be removed ({error.strerror})") from None


def _made_by() -> str:
    """A hash of all that decides a value: the package, and the kernels, machines and traces that come with it."""
    digest = hashlib.sha256(sources("").encode())
    for kind in ("kernels", "machines", "traces"):
        for folder in shipped_folders(kind):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.suffix != ".pyc":
                    digest.update(path.relative_to(folder).as_posix().encode())
                    digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
