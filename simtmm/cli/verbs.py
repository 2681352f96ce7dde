"""The verbs: the purpose of each, its commands, and the options that its help shows first."""

from collections.abc import Callable
from dataclasses import dataclass, field

from simtmm.cli.commands import (
    calibrate,
    diff,
    explore,
    export,
    import_,
    kernels,
    machines,
    measure,
    micro,
    record,
    rules,
    run,
    tune,
)
from simtmm.cli.commands.papers import claims, equation, paper, predict, reproduce
from simtmm.cli.commands.studies import compare, crossover, report, sweep, threads, zigzag

Command = Callable[..., None]


@dataclass(frozen=True)
class Verb:
    """A verb.

    purpose: the heading that it stands under.
    command: what it does without a second word.
    usual: the options that its help shows; all where there are few.
    words: commands of a second word.
    """

    name: str
    purpose: str
    command: Command
    usual: tuple[str, ...] = ()
    words: dict[str, Command] = field(default_factory=dict)


LAUNCHED = ("--grid", "--block", "--arg", "--kernel", "--param")
ASK, GATHER, READ = "Ask", "Programs and machines", "The papers"

VERBS = (
    Verb("run", ASK, run.run, (
        "--machine", "--set", *LAUNCHED, "--lines", "--html", "--timeline", "--models-only", "--sample", "--check",
        "--start", "--json", "--output",
    )),
    Verb("diff", ASK, diff.diff, (
        "--machine-a", "--machine-b", "--machine", "--grid-a", "--grid-b", "--block-a", "--block-b", *LAUNCHED,
        "--set-b", "--param-b", "--baseline", "--fail-above", "--markdown", "--json", "--output",
    )),
    Verb("sweep", ASK, sweep.sweep, (
        "--machine", "--set", "--param", "--vary", "--where", "--compute", "--measured", "--sample", "--store",
        "--workers", "--dry-run", "--export", "--json", "--output",
    ), {"compare": compare.compare, "threads": threads.threads, "zigzag": zigzag.zigzag,
        "crossover": crossover.crossover, "report": report.report}),
    Verb("tune", ASK, tune.tune, (
        "--machine", "--set", "--param", "--over", "--where", "--minimise", "--error", "--top", "--sampler", "--store",
        "--workers", "--json", "--output",
    )),
    Verb("explore", ASK, explore.explore),
    Verb("record", GATHER, record.record, (
        *LAUNCHED, "--machine", "--on", "--races", "--check", "--sample-blocks", "--as", "--build", "--json",
        "--output",
    ), {"import": import_.import_, "export": export.export, "measure": measure.measure}),
    Verb("machines", GATHER, machines.machines, (), {
        "new": machines.new, "calibrate": calibrate.calibrate, "compare": machines.compare, "micro": micro.micro,
    }),
    Verb("kernels", GATHER, kernels.kernels, (), {
        "rules": rules.rules, "test": rules.rules_test, "compare": rules.rules_compare,
    }),
    Verb("paper", READ, paper.paper, (), {
        "predict": predict.predict, "equation": equation.equation, "fit": equation.fit,
        "reproduce": reproduce.reproduce, "claims": claims.claims,
    }),
)  # fmt: skip
