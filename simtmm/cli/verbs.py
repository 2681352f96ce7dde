"""The verbs: the purpose of each, its commands, and the options that its help shows first."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import cast

Command = Callable[..., None]


@dataclass(frozen=True)
class Verb:
    """A verb. Its commands are named: `function_of` loads one, so that a command doesn't wait for all others.

    purpose: the heading that it stands under.
    command: what it does without a second word.
    usual: the options that its help shows; all where there are few.
    words: commands of a second word.
    hidden: likewise, of earlier versions; help has none of them.
    """

    name: str
    purpose: str
    command: str
    usual: tuple[str, ...] = ()
    words: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict)


def function_of(command: str) -> Command:
    """The function of a command. command: its module in simtmm.cli.commands and its name there, as "run.run"."""
    module, _, name = command.rpartition(".")
    return cast(Command, getattr(import_module(f"simtmm.cli.commands.{module}"), name))


LAUNCHED = ("--grid", "--block", "--arg", "--kernel", "--param")
ASK, GATHER, READ = "Ask", "Programs and machines", "The papers"

VERBS = (
    Verb("run", ASK, "run.run", (
        "--machine", "--set", *LAUNCHED, "--lines", "--html", "--timeline", "--models-only", "--sample", "--check",
        "--start", "--json", "--output",
    )),
    Verb("diff", ASK, "diff.diff", (
        "--machine-a", "--machine-b", "--machine", "--grid-a", "--grid-b", "--block-a", "--block-b", *LAUNCHED,
        "--set-b", "--param-b", "--baseline", "--fail-above", "--markdown", "--json", "--output",
    )),
    Verb("sweep", ASK, "studies.sweep.sweep", (
        "--machine", "--set", "--param", "--vary", "--where", "--compute", "--measured", "--sample", "--store",
        "--workers", "--dry-run", "--export", "--json", "--output",
    ), {"compare": "studies.compare.compare", "threads": "studies.threads.threads", "zigzag": "studies.zigzag.zigzag",
        "crossover": "studies.crossover.crossover", "report": "studies.report.report"}),
    Verb("tune", ASK, "tune.tune", (
        "--machine", "--set", "--param", "--over", "--where", "--minimise", "--error", "--top", "--sampler", "--store",
        "--workers", "--json", "--output",
    ), hidden={"advise": "advise.advise"}),
    Verb("explore", ASK, "explore.explore"),
    Verb("record", GATHER, "record.record", (
        *LAUNCHED, "--machine", "--on", "--races", "--check", "--sample-blocks", "--as", "--build", "--json",
        "--output",
    ), {"import": "import_.import_", "export": "export.export", "measure": "measure.measure"}),
    Verb("machines", GATHER, "machines.machines", (), {
        "new": "machines.new", "calibrate": "calibrate.calibrate", "compare": "machines.compare",
        "micro": "micro.micro",
    }),
    Verb("kernels", GATHER, "kernels.kernels", (), {
        "rules": "rules.rules", "test": "rules.rules_test", "compare": "rules.rules_compare",
    }),
    Verb("paper", READ, "papers.paper.paper", (), {
        "predict": "papers.predict.predict", "equation": "papers.equation.equation", "fit": "papers.equation.fit",
        "reproduce": "papers.reproduce.reproduce", "claims": "papers.claims.claims",
    }),
)  # fmt: skip
