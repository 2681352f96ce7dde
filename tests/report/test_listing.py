"""Kernels as a person reads them: which algorithm of the papers each follows."""

import io
import json

import pytest
from rich.console import Console

from simtmm.catalogue import Description, describe, known_kernels
from simtmm.catalogue.names import Known
from simtmm.kernel import describe_kernel_named
from simtmm.report.listing import describe_kernel, describe_kernels, kernel_document

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
