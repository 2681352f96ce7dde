"""The design of a study that a store keeps: its request and its program, of which nothing is run."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from simtmm.catalogue import named_kernel
from simtmm.errors import StudyError, shown
from simtmm.program import kind_of
from simtmm.study.design.content import kernel_digest
from simtmm.study.design.design import DESCRIPTION, RULES, Design, design_of, named
from simtmm.study.design.programs import Programs, several
from simtmm.study.design.rules import stored_rules
from simtmm.study.design.study_file import StudyFile, programs_of, read_study, study_of
from simtmm.study.design.subject import Subject, described_subject, stored_subject


def stored_design(document: Mapping[str, Any], origin: str) -> Design:
    """The design of the study that a store keeps (`Design.document`); no kernel is run.

    origin: the store, for errors. Raises the errors of `design_of`, the store named.
    document: what `Design.document` gave.
    """
    study, ran = _stored(document, origin)
    return named(origin, lambda: _with_rules(design_of(study, ran=ran()), document))


def stored_design_file(path: str | Path, document: Mapping[str, Any], origin: str) -> Design:
    """The design of a study file of which a store has the points; no kernel is run, what it is the store tells.

    document, origin: as in `stored_design`.

    Raises the errors of `design_of`, the file or the store named, and StudyError where the store is of another program.
    """
    study, folder = read_study(path)
    kept, ran = _stored(document, origin)
    if _is_trace(study) and _is_trace(kept):
        return named(path, lambda: _with_rules(design_of(study, folder), document))
    if not _is_trace(study) and not _is_trace(kept):
        its = named(origin, ran)
        each = list(its.each.values()) if isinstance(its, Programs) else [its]
        wanted, there = programs_of(study), programs_of(kept)
        same = len(wanted) == len(there) == len(each) and all(
            Path(name).name in (one.name, Path(known).name)
            for name, known, one in zip(wanted, there, each, strict=True)
        )
        if study.kind in (None, its.kind) and same:
            return named(path, lambda: _with_rules(design_of(study, folder, its), document))
    raise StudyError(f"{path}: program = {shown(study.program)}: {origin} has points of {shown(kept.program)}")


def as_found(design: Design) -> Design:
    """The design with the content of the kernel as it is found by its name, which is read and not run; as it is stored
    where it is not found: then what a store has of it can't be recognized as an earlier kernel's.
    """
    subject, names = design.subject, programs_of(design.study)
    if isinstance(subject, Programs):
        return replace(design, subject=several(list(map(_found, subject.each.values(), names))))
    return replace(design, subject=_found(subject, names[0]))


def _found(subject: Subject, name: str) -> Subject:
    folder = named_kernel(name) if subject.kind == "kernel" else None
    return subject if folder is None else replace(subject, digest=kernel_digest(folder))


def _stored(document: Mapping[str, Any], origin: str) -> tuple[StudyFile, Callable[[], Subject]]:
    """The study in a store, and what tells its subject."""
    study = study_of(
        {key: value for key, value in document.items() if value and key not in (DESCRIPTION, RULES)}, origin
    )
    description = document.get(DESCRIPTION)
    if description is None:
        return study, lambda: several([stored_subject(name, study.kind) for name in programs_of(study)])
    if isinstance(description, Mapping) and isinstance(each := description.get("programs"), list):
        return study, lambda: several([described_subject(one) for one in each])
    return study, lambda: described_subject(description)


def _with_rules(design: Design, document: Mapping[str, Any]) -> Design:
    """With the rules that a store tells of."""
    return replace(design, rules=stored_rules(document.get(RULES, {})))


def _is_trace(study: StudyFile) -> bool:
    names = programs_of(study)
    return len(names) == 1 and (study.kind == "trace" or (study.kind is None and kind_of(names[0]) == "trace"))
