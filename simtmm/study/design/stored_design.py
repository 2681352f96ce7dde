"""The design of a study that a store keeps: what it asked for, and what it ran, of which nothing is run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simtmm.errors import StudyError, shown
from simtmm.program import kind_of
from simtmm.study.design.design import DESCRIPTION, Design, design_of, named
from simtmm.study.design.study_file import StudyFile, read_study, study_of
from simtmm.study.design.subject import Subject, described_subject, stored_subject


def stored_design(document: Mapping[str, Any], origin: str) -> Design:
    """The design of the study that a store keeps (`Design.document`); no kernel is run.

    origin: the store, for errors. Raises the errors of `design_of`, the store named.
    """
    study, ran = _stored(document, origin)
    return named(origin, lambda: design_of(study, ran=ran()))


def stored_design_file(path: str | Path, document: Mapping[str, Any], origin: str) -> Design:
    """The design of a study file of which a store has the points; no kernel is run, what it is the store tells.

    document, origin: as in `stored_design`.

    Raises the errors of `design_of`, the file or the store named, and StudyError where the store is of another program.
    """
    study, folder = read_study(path)
    kept, ran = _stored(document, origin)
    if _is_trace(study) and _is_trace(kept):
        return named(path, lambda: design_of(study, folder))
    if not _is_trace(study) and not _is_trace(kept):
        its = named(origin, ran)
        names = (its.name, Path(kept.program).name)
        if study.kind in (None, its.kind) and Path(study.program).name in names:
            return named(path, lambda: design_of(study, folder, its))
    raise StudyError(f"{path}: program = {shown(study.program)}: {origin} has points of {shown(kept.program)}")


def _stored(document: Mapping[str, Any], origin: str) -> tuple[StudyFile, Callable[[], Subject]]:
    """The study in a store, and what tells its subject."""
    study = study_of({key: value for key, value in document.items() if value and key != DESCRIPTION}, origin)
    description = document.get(DESCRIPTION)
    if description is None:
        return study, lambda: stored_subject(study.program, study.kind)
    return study, lambda: described_subject(description)


def _is_trace(study: StudyFile) -> bool:
    return study.kind == "trace" or (study.kind is None and kind_of(study.program) == "trace")
