"""What `diff` is asked for: two runs, each a program to run or a run that was saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import SavedRunError
from simtmm.requests.completion import complete_changes, complete_kernel, complete_parameter
from simtmm.requests.cuda_program import IN_DIFF
from simtmm.requests.kernel_file import LaunchOptions, named
from simtmm.requests.machine import MachineOptions, machine_option
from simtmm.requests.run import RunRequest, WhatIfOption
from simtmm.requests.values import Words, changes_of, parameters_of

if TYPE_CHECKING:
    from simtmm.analysis.difference import Difference, Side
    from simtmm.watch import Watch

SOURCE = "what `simtmm run -o FILE` or `--json` wrote (.json), or a program to run, as `simtmm run` takes it"
SAVED = ".json"
OWN = (
    "machine",
    "set",
    "parameters",
    "grid",
    "block",
    "args",
    "kernel",
    "compile",
)  # what a side may have alone
FLAGS = {"parameters": "param", "args": "arg"}  # of fields that are called otherwise

Several = list[str] | None


def _of_side(side: str, what: str, metavar: str, **settings: Any) -> Any:
    return typer.Option(f"--{what}-{side}", metavar=metavar, help=f"for {side.upper()} only", **settings)


def _set_option(side: str) -> Any:
    return _of_side(side, "set", "KEY=VALUE", autocompletion=complete_changes)


def _param_option(side: str) -> Any:
    return _of_side(side, "param", "NAME=VALUE", autocompletion=complete_parameter)


@dataclass(frozen=True, kw_only=True)
class DiffRequest(LaunchOptions, MachineOptions):
    """Two runs. Its fields are options of `simtmm diff` and arguments of `simtmm.diff`.

    What is given of a side alone comes behind what is given of both: a key, a parameter or an argument by its name.
    """

    a: Annotated[
        str,
        typer.Argument(
            metavar="A", help=f"{SOURCE}; with --baseline, a file of kernels (.toml)", autocompletion=complete_kernel
        ),
    ]
    b: Annotated[
        str | None,
        typer.Argument(metavar="B", help="the other run, given the same way", autocompletion=complete_kernel),
    ] = None
    machine_a: Annotated[str | None, machine_option("the machine of A only", flag="--machine-a")] = None
    machine_b: Annotated[str | None, machine_option("the machine of B only", flag="--machine-b")] = None
    set_a: Annotated[Several, _set_option("a")] = None
    set_b: Annotated[Several, _set_option("b")] = None
    parameters_a: Annotated[Several, _param_option("a")] = None
    parameters_b: Annotated[Several, _param_option("b")] = None
    grid_a: Annotated[str | None, _of_side("a", "grid", "SIZES")] = None
    grid_b: Annotated[str | None, _of_side("b", "grid", "SIZES")] = None
    block_a: Annotated[str | None, _of_side("a", "block", "SIZES")] = None
    block_b: Annotated[str | None, _of_side("b", "block", "SIZES")] = None
    args_a: Annotated[Several, _of_side("a", "arg", "NAME=VALUE")] = None
    args_b: Annotated[Several, _of_side("b", "arg", "NAME=VALUE")] = None
    kernel_a: Annotated[str | None, _of_side("a", "kernel", "NAME")] = None
    kernel_b: Annotated[str | None, _of_side("b", "kernel", "NAME")] = None
    compile_a: Annotated[Several, _of_side("a", "compile", "OPTION")] = None
    compile_b: Annotated[Several, _of_side("b", "compile", "OPTION")] = None
    what_if: WhatIfOption = True

    def given(self) -> dict[str, Any]:
        """What is given for both sides or one, by the names of options."""
        both = {f"--{FLAGS.get(name, name)}": getattr(self, name) for name in OWN}
        return {**both, "--start": self.start, "--shared": self.shared, "--as": self.form, "--graph": self.graph,
                **self._given_for("a"), **self._given_for("b")}  # fmt: skip

    def _given_for(self, side: str) -> dict[str, Any]:
        return {f"--{FLAGS.get(name, name)}-{side}": getattr(self, f"{name}_{side}") for name in OWN}

    def compared(self, watch: "Watch | None", as_json: bool = False) -> "Difference":
        """Both sides, run where they have to be, and compared; all is checked before anything is run.

        as_json: whether the result is printed as JSON.

        Raises SavedRunError, and the errors of what is run.
        """
        from simtmm.analysis.difference import Side, difference

        if self.b is None:
            raise SavedRunError(f"B: is missing: compare {self.a} with another run, or with a file (--baseline FILE)")
        saved = [self._saved(self.a, "a"), self._saved(self.b, "b")]
        if None not in saved:
            of_both = {option: value for option, value in self.given().items() if not option.endswith(("-a", "-b"))}
            _refuse(of_both, f"{self.a} and {self.b} are saved runs")
        requests = [
            None if found else self.side(source, name)
            for source, name, found in ((self.a, "a", saved[0]), (self.b, "b", saved[1]))
        ]
        checked = [None if request is None else request.checked() for request in requests]
        for request in checked:
            if request is not None:
                request.check_kernel()
        launches = _what_differs([None if request is None else _launch_of(request) for request in requests])
        sides = []
        for source, found, run, launch in zip((self.a, self.b), saved, checked, launches, strict=True):
            if run is not None:
                found = Side.of(run.opened(as_json).run(watch).to_dict(), named(source))
                found = replace(found, parameters={**found.parameters, **launch})
            assert found is not None
            sides.append(found)
        return difference(sides[0], sides[1])

    def side(self, source: str, side: str) -> RunRequest:
        """The run of a side: what is given of both, and behind it what is given of this side.

        source: the program of that side.
        side: "a" or "b".
        """
        own = {name: getattr(self, f"{name}_{side}") for name in OWN}

        def either(name: str) -> Any:
            return getattr(self, name) if own[name] is None else own[name]

        merged: dict[str, Any] = {
            "set": changes_of(self.set) | changes_of(own["set"]),
            "parameters": parameters_of(self.parameters) | parameters_of(own["parameters"]),
            "args": _arguments(self.args, own["args"]),
            "compile": [*(self.compile or ()), *(own["compile"] or ())],
        }
        request = RunRequest(
            source=source,
            machine=either("machine"),
            start=self.start,
            grid=either("grid"),
            block=either("block"),
            kernel=either("kernel"),
            shared=self.shared,
            form=self.form,
            graph=self.graph,
            what_if=self.what_if,
            **merged,
        )
        return replace(request, host_time=IN_DIFF) if request.is_own else request  # the same programs differ by nothing

    def _saved(self, source: str, side: str) -> "Side | None":
        """The run that was saved there; None for a program, a workload among them."""
        from simtmm.analysis.difference import Side, load_document
        from simtmm.analysis.run.outcome import Run

        if isinstance(source, Run):  # in Python
            _refuse(self._given_for(side), f"{source!r} is a finished run")
            return Side.of(source.to_dict(), source.program)
        if not isinstance(source, (str, Path)) or Path(source).suffix != SAVED:
            return None
        document = load_document(source)
        if not isinstance(document, dict) or document.keys() & {"blocks", "launches"}:
            return None  # a workload, or what its reader refuses
        _refuse(self._given_for(side), f"{source} is a saved run")
        return Side.of(document, source)


def _launch_of(request: RunRequest) -> dict[str, Any]:
    """How a file of device code is launched, by name, as it is to be shown."""
    words = {name: getattr(request, name) for name in ("grid", "block", "kernel")}
    found = {
        name: "x".join(map(str, each)) if isinstance(each, (tuple, list)) else each for name, each in words.items()
    }
    if request.compile:
        found["compile"] = " ".join(request.compile)
    given: Any = request.args or ()
    if not isinstance(given, Mapping):
        pairs = [word.partition("=") for word in given]
        given = {name if equals else f"argument {place}": value if equals else name
                 for place, (name, equals, value) in enumerate(pairs)}  # fmt: skip
    shown = {name: f"an array of {each.shape}" if hasattr(each, "shape") and each.shape else each
             for name, each in given.items()}  # fmt: skip
    return {name: value if isinstance(value, (int, float)) else str(value)
            for name, value in {**found, **shown}.items() if value is not None}  # fmt: skip


def _what_differs(launches: Sequence[dict[str, Any] | None]) -> list[dict[str, Any]]:
    """Of two launches that are both known what differs between them; nothing of others."""
    one, other = launches
    if one is None or other is None:
        return [{}, {}]
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return [{name: launch[name] for name in names if name in launch} for launch in (one, other)]


def _arguments(both: Words, own: Words) -> Words:
    """Arguments of both sides, those that a side names anew left out, and behind them the side's."""
    if not both or not own:
        return own or both
    if isinstance(both, Mapping) and isinstance(own, Mapping):
        return {**both, **own}
    names = {word.partition("=")[0] for word in own if "=" in word}
    return [*(word for word in both if word.partition("=")[0] not in names), *own]


def _refuse(options: Mapping[str, Any], why: str) -> None:
    for option, value in options.items():
        if value:
            first = value[0] if isinstance(value, list) else value
            raise SavedRunError(f"{option} {first}: {why}, which can't be changed")
