"""Machines, workloads, studies, files of launches, problems in T1, saved runs, expressions: what people write."""

import json
import tomllib
from functools import cache
from pathlib import Path
from random import Random

from simtmm import Workload, load_machine, load_workload, run, simulate
from simtmm.analysis.difference.side import Side, load_document
from simtmm.catalogue import describe
from simtmm.errors import StudyError
from simtmm.files import data_file
from simtmm.machine import Machine, machine_toml, new_machine
from simtmm.parameter.expression import expression
from simtmm.requests.values import changes_of, ranges_of
from simtmm.study.design.axes import axis, span
from simtmm.study.design.rules import rules_in
from tests.analysis.test_tuning import PROBLEM, SCALE
from tests.fuzz import at_random
from tests.fuzz.bounds import naming
from tests.fuzz.kinds.kind import Kind, Make, as_json, written
from tests.fuzz.mutations import TEXTS, WORDS, WORST, WORST_OF_TOML, toml
from tests.fuzz.targets.documents import (
    CONDITIONS,
    KEYS,
    LAUNCHES,
    MACHINES,
    RANGES,
    SHIPPED,
    SPELLED,
    STUDIES,
    WORKLOADS,
    designed,
    laid_out,
    used_machine,
    with_keys,
)
from tests.fuzz.targets.problems import TEXTS_OF_T1, searched
from tests.study.programs import trace, write

OF_TOML = [each for each in WORST_OF_TOML if not isinstance(each, dict)]


def _tables(documents: list, *more: list) -> Make:
    """TOML: its text changed, or its values. more: values of the kind."""
    texts = [toml(tables) for tables in documents]
    known = [each for values in more for each in values]

    def value(random: Random):
        return at_random.value(random, OF_TOML, known)

    def make(random: Random) -> bytes:
        if random.random() < 0.5:
            return at_random.changed_bytes(random, texts)
        return toml(at_random.changed_document(random, documents, value))

    return make


def _json(documents: list, *more: list) -> Make:
    texts = [as_json(document) for document in documents]
    known = [each for values in more for each in values]

    def make(random: Random) -> bytes:
        if random.random() < 0.4:
            return at_random.changed_bytes(random, texts)
        return as_json(at_random.changed_document(random, documents, lambda own: at_random.value(own, WORST, known)))

    return make


_OF_MACHINES = _tables(MACHINES)


def _machine(random: Random) -> bytes:
    match random.randrange(3):
        case 0:
            return at_random.changed_bytes(random, SHIPPED)
        case 1:
            keys = random.choices(KEYS, k=random.randint(1, 3))
            return toml(with_keys(random.choice(MACHINES), [(key, at_random.value(random, OF_TOML)) for key in keys]))
    return _OF_MACHINES(random)


NUMBERS = [word.decode("latin-1") for word in WORDS] + TEXTS + RANGES


def _set(random: Random) -> bytes:
    values = [*at_random.words(random, NUMBERS, 3), random.choice(NUMBERS)]
    keys = [random.choice([*KEYS, *KEYS, "cores", "zz", "a.b", "", "memory.latency\nname"]) for _ in values]
    return as_json([f"{key}={value}" for key, value in zip(keys, values, strict=True)])


@cache
def _gtx280() -> Machine:
    return load_machine("gtx280")


def _changed(folder: Path, content: bytes) -> object:
    words = json.loads(content)
    return machine_toml(_gtx280().replace(changes_of(words)))


FAMILIES = ["ada", "hopper", "cdna3", "nvidia", "gb20x", "zz", ""]
OF_A_DATA_SHEET = {
    "cores.groups": 10, "clock_hz": 1e9, "peak_bandwidth": 1e11, "memory.l2.size": "4MiB", "memory.latency": 300,
    "measured_bandwidth": 9e10, "memory.l1": "none", "resources.registers": 65536, "limits.blocks_per_group": 16,
    "memory.partitions": 4, "memory.service": 2, "memory.bandwidth": 9e10,
}  # fmt: skip


def _new(random: Random) -> bytes:
    """A family, and values of a data sheet, of which some are left out and some are others."""
    values = {key: value for key, value in OF_A_DATA_SHEET.items() if key not in LATER or random.random() < 0.2}
    for _ in range(random.randint(1, 3)):
        key = random.choice([*OF_A_DATA_SHEET, *OF_A_DATA_SHEET, *KEYS])
        if random.random() < 0.2:
            values.pop(key, None)
        else:
            values[key] = at_random.value(random, WORST, [1, 0.5, 1e-300, 1e300, "none", "1B", "72MiB", 2**31 - 1])
    name = random.choice(["m", *TEXTS]).encode("utf-8", "replace").decode()
    return as_json([name, random.choice([*FAMILIES, *FAMILIES, *TEXTS]), values])


LATER = ["memory.latency", "measured_bandwidth", "memory.l1", "memory.partitions", "memory.service", "memory.bandwidth"]


def _made(folder: Path, content: bytes) -> object:
    """A new machine, written and read again."""
    name, family, values = json.loads(content)
    machine = new_machine(name, family, values)
    assert Machine.from_dict(tomllib.loads(machine_toml(machine)), "again") == machine
    return machine


def _range(random: Random) -> bytes:
    return as_json([random.choice(KEYS), at_random.changed_text(random, [random.choice(RANGES), *RANGES])])


def _ranged(folder: Path, content: bytes) -> object:
    key, text = json.loads(content)
    naming(None, lambda: span(key, text)) if "," not in text and text.count(":") == 1 else None
    return [axis(name, given).values for name, given in ranges_of([f"{key}={text}"], "--vary").items()]


def _simulated(path: Path) -> object:
    workload = naming(path, lambda: load_workload(path))
    assert Workload.from_dict(workload.to_dict()) == workload
    return simulate(_gtx280(), workload, "fast")


def _designed(folder: Path, content: bytes) -> object:
    if not (folder / "traced.parquet").exists():
        write(folder)
    path = folder / "s.toml"
    path.write_bytes(content)
    return naming(path, lambda: designed(path))


def _searched(folder: Path, content: bytes) -> object:
    (folder / "scale.cu").write_text(SCALE)
    path = folder / "problem.json"
    path.write_bytes(content)
    return searched(path)


@cache
def _saved_run() -> dict:
    return json.loads(json.dumps(run(trace(blocks=2, threads=8, rounds=1), load_machine("gtx280")).to_dict()))


def _run(random: Random) -> bytes:
    return _json([_saved_run()])(random)


TEXTS_OF_EXPRESSIONS = [
    "n < 3", "memory.latency * 2 <= n + 1", "min(n, T) // 2 % 3 == 1", "not (n > 1 and T != 2) or n >= 8",
    "ceil(n / 7) + floor(2.5) - log2(8) * sqrt(4)", "-n ** 2", "1 < n < 3 < 4", "n if T else 1", "[n for n in (1,)]",
    "f'{n}'", "n.a.b.c", "lambda: n", "(n := 3)", "max(n, 2, 3)", "1e308 * 10 > n", "'x' == n", "n and T", "+-+-n",
    *(condition for (condition,) in CONDITIONS),
]  # fmt: skip
VALUES = {"n": 3, "T": 2.5, "memory.latency": 400, "word": "x" * 100, "large": 10**300, "flag": True}


def _computed(folder: Path, content: bytes) -> object:
    made = expression(content.decode("utf-8", "replace"), "constraint", StudyError)
    return made.names, made.value(VALUES)


RULES = [
    b"def youngest(ready, group):\n    return max(ready, key=lambda warp: warp.age)\n",
    b'"""Rules."""\nseen = {}\n\ndef _own(a, b): ...\ndef one(ready, group):\n    """It."""\n    return ready[0]\n',
]


def _host() -> list[bytes]:
    return [data_file("kernels", f"{name}/host.py").read_bytes() for name in ("stream", "gemm", "list-ranking-wyllie")]


def _described(folder: Path, content: bytes) -> object:
    """As the list of kernels does, which reads what is there and runs none of it."""
    (folder / "host.py").write_bytes(content)
    return describe("kernel", folder)


KINDS = [
    Kind("machine", "machines as TOML", _machine,
         written("m.toml", lambda path: naming(path, lambda: used_machine(path)))),
    Kind("set", "`--set` words", _set, _changed),
    Kind("new-machine", "machines from a family and a data sheet", _new, _made),
    Kind("range", "ranges of axes", _range, _ranged),
    Kind("workload", "workloads as JSON, simulated", _json(WORKLOADS), written("w.json", _simulated)),
    Kind("study", "study files, laid out", _tables(STUDIES, RANGES, CONDITIONS), _designed),
    Kind("launches", "files of launches, their arrays made", _tables([LAUNCHES], SPELLED),
         written("l.toml", lambda path: naming(path, lambda: laid_out(path)))),
    Kind("problem", "problems in T1, their configurations", _json([PROBLEM], TEXTS_OF_T1), _searched),
    Kind("saved-run", "runs as `--json` writes them, for `diff`", _run,
         written("r.json", lambda path: Side.of(load_document(path), path.name))),
    Kind("expression", "constraints, sizes, objectives",
         lambda random: at_random.changed_bytes(random, [text.encode() for text in TEXTS_OF_EXPRESSIONS]), _computed),
    Kind("rules", "files of scheduling rules, read",
         lambda random: at_random.changed_bytes(random, RULES), written("r.py", lambda path: rules_in([path]))),
    Kind("host", "a kernel's host.py, listed", lambda random: at_random.changed_bytes(random, _host()), _described),
]  # fmt: skip
