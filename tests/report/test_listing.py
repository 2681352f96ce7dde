"""Kernels as a person reads them: which algorithm of the papers each follows."""

import io
import json

import pytest
from rich.console import Console

from simtmm.kernel import kernel_folders, load_kernel
from simtmm.report.listing import describe_kernel, describe_kernels, kernel_document

KERNELS = {name: load_kernel(name) for name in kernel_folders()}


def lines(parts, width=120):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for part in parts:
        console.print(part)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_kernels_that_follow_an_algorithm_come_first_and_the_others_after_them():
    shown = lines(describe_kernels(KERNELS))
    others = shown.index("Others")
    names = [line.partition(" ")[0] for line in shown]
    for name, kernel in KERNELS.items():
        assert (names.index(name) > others) == (kernel_document(kernel)["algorithm"] is None), name


def test_an_algorithm_of_another_name_is_told():
    shown = lines(describe_kernels({name: KERNELS[name] for name in ("apsp-minplus", "fft", "stream")}), 200)
    (line,) = [line for line in shown if line.startswith("apsp-minplus ")]
    assert line.endswith(" in sub-blocks [apsp-dynamic-programming]")
    (line,) = [line for line in shown if line.startswith("fft ")]
    assert line.endswith(KERNELS["fft"].summary)


@pytest.mark.parametrize("width", [80, 120])
def test_the_list_fits_the_terminal_with_every_name_whole(width):
    shown = lines(describe_kernels(KERNELS), width)
    assert max(len(line) for line in shown) <= width
    for name in KERNELS:
        assert sum(line.startswith(f"{name} ") for line in shown) == 1


def test_one_kernel_shows_its_algorithm_and_the_symbols_of_its_defaults():
    assert lines(describe_kernel(KERNELS["apsp-minplus"]))[-1] == (
        "algorithm: apsp-dynamic-programming, by default with n=64, S_D=16 (see `simtmm predict "
        "apsp-dynamic-programming`)"
    )
    assert not [line for line in lines(describe_kernel(KERNELS["stream"])) if line.startswith("algorithm")]


def test_the_document_has_the_algorithm():
    document = json.loads(json.dumps({name: kernel_document(kernel) for name, kernel in KERNELS.items()}))
    assert document["apsp-minplus"]["algorithm"] == {
        "name": "apsp-dynamic-programming", "symbols": {"n": 64, "S_D": 16},
    }  # fmt: skip
    assert document["stream"]["algorithm"] is None
