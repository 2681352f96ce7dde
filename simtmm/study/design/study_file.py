"""Study files: their keys, and how they are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simtmm.documents import read_toml
from simtmm.engine import DEFAULT
from simtmm.errors import StudyError, nearest, shown
from simtmm.study.design.axes import MOST_VALUES
from simtmm.study.design.subject import Kind


class SampleFile(BaseModel):
    """The table [sample] of a study file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    points: int = Field(ge=1, le=MOST_VALUES)
    method: Literal["random", "latin-hypercube"] = "latin-hypercube"
    seed: int = Field(default=0, ge=0)
    axes: dict[str, Any]


class StudyFile(BaseModel):
    """The keys of a study file; see docs/studies.md."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    program: str | list[str]
    kind: Kind | None = None
    machines: list[str] = Field(default=["gtx280"], min_length=1)
    parameters: dict[str, Any] = {}
    changes: dict[str, Any] = Field(default={}, alias="set")
    axes: dict[str, Any] = {}
    linked: list[dict[str, Any]] = []
    sample: SampleFile | None = None
    compute: list[str] = []
    engine: str = DEFAULT
    constraints: list[str] = []
    measured: list[str] = []
    sample_error: float | None = None


def programs_of(study: StudyFile) -> list[str]:
    """The programs that a study names, one as a rule. Raises StudyError where it names none."""
    named = [study.program] if isinstance(study.program, str) else study.program
    if not named:
        raise StudyError("program: must name at least one")
    return named


def read_study(path: str | Path) -> tuple[StudyFile, Path]:
    """A study file, and the folder that its paths are relative to. Raises StudyError."""
    path = Path(path)
    tables = read_toml(path, StudyError)
    return study_of(tables, str(path)), path.parent


def study_of(tables: Mapping[str, Any], origin: str = "study") -> StudyFile:
    """A study from the tables of a study file; `origin` names them in errors.

    tables: by key, as TOML has them.
    origin: the file, for messages.

    Raises StudyError.
    """
    try:
        return StudyFile.model_validate(dict(tables))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = [field.alias or name for name, field in StudyFile.model_fields.items()]
            if key.startswith("sample."):
                known = [f"sample.{name}" for name in SampleFile.model_fields]
            raise StudyError(f"{origin}: {key}: unknown key{nearest(key, known)}") from None
        if first["type"] == "missing":
            raise StudyError(f"{origin}: {key}: is missing") from None
        raise StudyError(f"{origin}: {key} = {shown(first['input'])}: {first['msg']}") from None
