"""Kernels as a person reads them: which algorithm of the papers each follows."""

import io
import json
import re

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.catalogue import Description, describe, known_kernels
from simtmm.catalogue.names import Known
from simtmm.kernel import describe_kernel_named
from simtmm.machine import units
from simtmm.report.listing import (
    describe_kernel,
    describe_kernels,
    describe_machine,
    describe_machines,
    kernel_document,
    machine_document,
)
from simtmm.report.machine_table import MEASURED, basis, basis_words

KNOWN = {name: known for name, known in known_kernels().items() if known.origin == "shipped"}
TOLD = {name: describe(name, known.path) for name, known in KNOWN.items()}


def lines(parts, width=120):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for part in parts:
        console.print(part)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_kernels_that_follow_an_algorithm_come_first_and_the_others_after_them():
    shown = lines(describe_kernels(KNOWN, TOLD))
    others = shown.index("Others")
    names = [line.partition(" ")[0] for line in shown]
    for name, reported in TOLD.items():
        assert (names.index(name) > others) == (reported.algorithm is None), name


def test_an_algorithm_of_another_name_is_reported():
    shown = lines(describe_kernels({name: KNOWN[name] for name in ("apsp-minplus", "fft", "stream")}, TOLD), 200)
    (line,) = [line for line in shown if line.startswith("apsp-minplus ")]
    assert line.endswith(" in sub-blocks [apsp-dynamic-programming]")
    (line,) = [line for line in shown if line.startswith("fft ")]
    assert line.endswith(TOLD["fft"].summary)


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_the_terminal_with_every_name_whole(width):
    shown = lines(describe_kernels(KNOWN, TOLD), width)
    assert max(len(line) for line in shown) <= width
    for name in KNOWN:
        assert sum(line.startswith(f"{name} ") for line in shown) == 1


def test_one_kernel_shows_its_algorithm_and_the_symbols_of_its_defaults():
    assert lines(describe_kernel(*describe_kernel_named("apsp-minplus")))[-1] == (
        "algorithm: apsp-dynamic-programming, by default with n=64, S_D=16 (see `simtmm paper predict "
        "apsp-dynamic-programming`)"
    )
    assert not [
        line for line in lines(describe_kernel(*describe_kernel_named("stream"))) if line.startswith("algorithm")
    ]


def test_the_document_has_the_algorithm():
    names = ("apsp-minplus", "stream")
    document = json.loads(json.dumps({name: kernel_document(*describe_kernel_named(name)) for name in names}))
    assert document["apsp-minplus"]["algorithm"] == {
        "name": "apsp-dynamic-programming", "symbols": {"n": 64, "S_D": 16},
    }  # fmt: skip
    assert document["stream"]["algorithm"] is None


def test_where_a_kernel_lies_is_reported_of_those_that_are_not_shipped(tmp_path):
    known = {"own": Known("own", tmp_path / "own", "given"), "fft": KNOWN["fft"]}
    descriptions = {"own": Description("own", tmp_path / "own", about="Mine."), "fft": TOLD["fft"]}
    shown = lines(describe_kernels(known, descriptions), 300)
    assert f"own   Mine ({tmp_path / 'own'})" in shown
    assert not [line for line in shown if "shipped" in line]


def test_a_kernel_that_another_hides_is_reported_with_what_helps(tmp_path):
    here = Known("fft", tmp_path / "kernels" / "fft", "here")
    shown = lines(describe_kernels({"fft": Known("fft", KNOWN["fft"].path, "shipped", (here,))}, TOLD), 300)
    at = shown.index("Hidden by another kernel of the same name")
    assert shown[at + 1] == (
        f"fft   {here.path}: the shipped one is taken; to use this one, give its path or --kernel-path kernels"
    )


def test_a_kernel_that_can_not_be_read_is_listed_with_the_reason(tmp_path):
    known = {"own": Known("own", tmp_path / "own", "given")}
    descriptions = {"own": Description("own", tmp_path / "own", fault="host.py:3: SyntaxError: invalid syntax")}
    shown = lines(describe_kernels(known, descriptions), 300)
    assert shown[shown.index("Unreadable") + 1] == "own   host.py:3: SyntaxError: invalid syntax"


def test_what_only_running_a_kernel_tells_is_reported_so(tmp_path):
    description = Description("own", tmp_path, untold=("about", "parameters", "paper", "algorithm"))
    shown = lines(describe_kernel(description), 300)
    assert shown[1] == "known only by running it"
    for part in ("parameters", "follows", "algorithm"):
        assert f"{part}: known only by running it" in shown


def test_what_a_kernel_says_commands_no_terminal(tmp_path):
    description = Description("own", tmp_path, about="Mine \x1b[2J", paper="\x1b[2J")
    assert not [line for line in lines(describe_kernel(description)) if "\x1b" in line]


def test_the_list_of_machines_has_each_number_under_its_letter():
    machines = {name: load_machine(name) for name in ("gtx280", "rtx-3080", "mi210")}
    head, *rows = [re.split(r" {2,}", line.strip()) for line in lines(describe_machines(machines), 300) if line.strip()]
    assert head == ["machine", "P", "Q", "W", "X", "L", "C", "values"]
    for row, (name, machine) in zip(rows, machines.items(), strict=False):
        cores, memory = machine.cores, machine.memory
        assert row[:7] == [
            name, f"{cores.groups * cores.cores_per_group:,}", str(cores.cores_per_group), str(cores.warp_width),
            f"{cores.max_threads_per_core:g}", f"{memory.latency:g}", str(memory.chunk_words),
        ]  # fmt: skip
        assert row[7:] == [each for each in (basis(machine), machine.description) if each]
    assert [row[0].split(" ")[0] for row in rows[len(machines) :]] == ["P", "Values"]
    assert {basis(machine) for machine in machines.values()} == {MEASURED, ""} | {basis(load_machine("rtx-3080"))}


def test_a_machine_is_shown_with_each_value_s_unit_certainty_and_source():
    machine = load_machine("rtx-3080")
    name, description, *rest = [line for line in lines(describe_machine(machine), 4000) if line]
    assert (name, description) == (machine.name, machine.description)
    family, values, head, *rows = rest
    assert family == f"family: {machine.family}"
    assert values == f"values: {basis_words(machine)}"
    assert head.split() == ["key", "value", "unit", "certainty", "source"]
    told = {row.split()[0]: row for row in rows}
    assert list(told) == list(machine.values())
    document = machine_document(machine)
    assert document["values"].keys() == told.keys()
    assert (document["basis"], document["family"], document["digest"]) == (
        basis(machine), machine.family, machine.digest(),
    )  # fmt: skip
    for key, value in machine.values().items():
        unit, meaning = units()[key]
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        assert re.match(rf"{re.escape(key)} +{re.escape(shown)} +{re.escape(unit)}", told[key])
        source = machine.sources.get(key)
        certainty = "default" if source is None else source.certainty
        assert certainty in told[key]
        in_document = document["values"][key]
        assert (in_document["value"], in_document["unit"], in_document["meaning"]) == (value, unit, meaning)
        assert in_document["certainty"] == certainty
        if source is not None:
            assert told[key].endswith(f"{source.source}{f' ({source.note})' if source.note else ''}")
            assert in_document["source"] == source.source
