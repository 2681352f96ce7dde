"""Scheduling rules of one's own, in a study or a comparison: functions of a file that the call gives.

Data never names code to run, and only names a rule: a study says `scheduling.scheduler = ["fifo", "youngest"]`, and
what `youngest` is stands in the file that a person gave to the command. A store keeps a rule's name and the hash of its
file, and runs nothing.
"""

import ast
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from simtmm.documents import LARGEST_TOML, read_bytes
from simtmm.engine import Scheduler
from simtmm.errors import StudyError, shown_error
from simtmm.machine.tables.cores import Scheduling
from simtmm.python_text import parsed
from simtmm.rules.guarded import guarded, guarded_call
from simtmm.study.design.source_text import deciding_text

KEY = "scheduling.scheduler"
ENGINE = "reference"  # in the keys of points with a rule: both engines give one result, and may have it


@dataclass(frozen=True)
class Rule:
    """A rule.

    digest: of what its file does. path: of the file; empty for one that a store names, which can't be run.
    """

    name: str
    digest: str
    path: str = ""

    def content(self) -> tuple[str, ...]:
        """What it adds to a point's key."""
        return ("rule", self.name, self.digest)

    def function(self) -> Scheduler:
        """The rule, of a file that is run anew: what it remembers of one run is not known to the next.

        Raises StudyError where the file can't be run, as the rule does for what goes wrong in it.
        """
        where = f"{self.path}: rule {self.name}"
        space: dict[str, Any] = {"__name__": "rule", "__file__": self.path}
        source = Path(self.path).read_bytes()
        if _digest(self.path, source) != self.digest:
            raise StudyError(f"{where}: its file has changed since the study started")

        def loaded() -> Scheduler:
            exec(compile(source, self.path, "exec"), space)  # noqa: S102 - the user gave this file to be run
            return cast(Scheduler, space[self.name])

        return guarded(guarded_call(where, loaded), where)


def built_in() -> tuple[str, ...]:
    """The names of the rules that every machine may have."""
    return get_args(Scheduling.model_fields["scheduler"].annotation)


def rules_in(paths: Iterable[str | Path]) -> dict[str, Rule]:
    """The rules of these files, by name: their functions of two arguments, and classes whose instances are such; those
    that begin with _ apart.

    The files are read and not run. Raises StudyError.
    """
    found: dict[str, Rule] = {}
    known = built_in()
    for path in paths:
        source = read_bytes(path, StudyError, LARGEST_TOML)
        try:
            tree = parsed(source, str(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise StudyError(f"--rule {path}: can't be read ({shown_error(error)})") from None
        digest = _digest(path, source)
        names = [each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef) and _is_rule(each)]
        names = [name for name in names if not name.startswith("_")]
        if not names:
            raise StudyError(f"--rule {path}: has no function of two arguments, the ready warps and the core group")
        for name in names:
            if name in known or name in found:
                raise StudyError(f"--rule {path}: {name}: is also the name of another rule")
            found[name] = Rule(name, digest, str(Path(path).resolve()))
    return found


def stored_rules(document: Any) -> dict[str, Rule]:
    """Those that a store tells of, by name. Raises StudyError."""
    if not isinstance(document, Mapping) or not all(isinstance(digest, str) for digest in document.values()):
        raise StudyError("rules: must be an object of hashes by name")
    return {str(name): Rule(str(name), digest) for name, digest in document.items()}


def _digest(path: str | Path, source: bytes) -> str:
    """Of a file of rules without its comments and docstrings."""
    return hashlib.sha256(deciding_text(Path(path), source)).hexdigest()[:32]


def _is_rule(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether a function has the arguments of a rule, or a class has a method of that kind by which it is called."""
    if isinstance(node, ast.FunctionDef):
        return len(node.args.args) == 2
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    return any(method.name == "__call__" and len(method.args.args) == 3 for method in methods)
