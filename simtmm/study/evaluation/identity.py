"""Identity: by what a point was computed. A store keeps what earlier ones computed, and it stays readable.

A point's key is of its content: the program, its parameters, the machine, and the sources of simtmm that compute. Each
run of a store says with which program and sources it computed, so that the keys of its points can be found again after
either has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simtmm.provenance import computed_by
from simtmm.study.design.design import DESCRIPTION, Design
from simtmm.study.design.programs import Programs
from simtmm.study.design.subject import Subject
from simtmm.study.store.store import Store

PROGRAM, SOURCES = "program", "sources"  # keys of a run's document


@dataclass(frozen=True)
class Identity:
    """By what a run computed.

    program: the digest of its content. sources: of those of simtmm (computed_by). version: of simtmm. run: the last one
    that computed so.
    """

    program: str
    sources: str
    version: str
    run: int

    def in_words(self, program: str) -> str:
        """In words, compared with what would compute now. program: the digest of the present program."""
        parts = [f"simtmm {self.version} ({self.sources[:8]})"] if self.sources != computed_by() else []
        parts += [f"program {self.program[:8]}"] if self.program != program else []
        return f"run {self.run}: {', '.join(parts)}"


def run_says(design: Design, store: Store) -> dict[str, Any]:
    """What a run that begins says of what it computes with; and the program that a store describes, if it is another.

    The runs of older simtmm did not say it, and this one writes its own description over theirs.
    """
    described = _described(store.study())
    earlier = {f"earlier_{PROGRAM}": described} if described not in (None, design.subject.digest) else {}
    subject = design.subject
    each = subject.each.values() if isinstance(subject, Programs) else [subject]
    return {
        PROGRAM: subject.digest,
        f"{PROGRAM}s": {one.name: one.digest for one in each},
        SOURCES: computed_by(),
        **earlier,
    }


def earlier_identities(subject: Subject, store: Store) -> list[Identity]:
    """By what a store's runs computed a program, the latest first; what would compute now is not among them."""
    runs = store.runs_by_number()
    described = _described(store.study())
    now = (subject.digest, computed_by())
    found: dict[tuple[str, str], Identity] = {}
    for number, about in reversed(runs.items()):
        sources = about.get(SOURCES)
        for program in _programs(subject.name, about, list(runs.values()), described or subject.digest):
            if isinstance(sources, str) and (program, sources) != now:
                version = str(about.get("simtmm", "?"))
                found.setdefault((program, sources), Identity(program, sources, version, number))
    return list(found.values())


def _programs(name: str, about: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], described: str) -> list[str]:
    """The digests that a run may have computed with: its own, or all that are known where it names none."""
    each = about.get(f"{PROGRAM}s")
    if isinstance(each, Mapping):
        return [each[name]] if isinstance(each.get(name), str) else []
    if isinstance(about.get(PROGRAM), str):
        return [about[PROGRAM]]
    earlier = [run.get(f"earlier_{PROGRAM}") for run in runs]
    return list(dict.fromkeys([described, *(program for program in earlier if isinstance(program, str))]))


def _described(study: Mapping[str, Any] | None) -> str | None:
    """The digest of the program that a store's study describes."""
    description = (study or {}).get(DESCRIPTION)
    digest = description.get("digest") if isinstance(description, Mapping) else None
    return digest if isinstance(digest, str) else None
