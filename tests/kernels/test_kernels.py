"""The kernels that come with simtmm: right for odd sizes, with exactly the events of their algorithms."""

import shutil

import pytest

from simtmm import record
from simtmm.errors import RecordingError
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.trace.schema import Kind
from tests.record.build import rows
from tests.record.conftest import needs_compiler

pytestmark = needs_compiler

OPERATIONS = ("init", "read", "scale", "triad", "stencil3", "stencil5")

# Beside the defaults. Every kernel has an entry here, in EVENTS and in MISTAKES.
ODD = {
    "apsp-minplus": [
        {"n": 2, "sub_block": 1, "threads": 1},
        {"n": 3, "sub_block": 16, "threads": 64},  # one sub-block, mostly padding
        {"n": 33, "sub_block": 8, "threads": 64, "seed": 1},  # sub_block does not divide n
        {"n": 20, "sub_block": 5, "threads": 7},  # threads do not divide sub_block^2
        {"n": 12, "sub_block": 4, "threads": 33},  # threads without an element
        {"n": 17, "sub_block": 8, "threads": 64, "degree": 0.0},  # no edges
        {"n": 16, "sub_block": 8, "threads": 16, "degree": 16.0},  # all edges
    ],
    "list-ranking-wyllie": [
        {"n": 1},
        {"n": 2, "threads": 1},
        {"n": 3, "threads": 1024},
        {"n": 129, "threads": 128, "seed": 5},
        {"n": 1000, "threads": 33, "order": "ordered"},
        {"n": 1024, "threads": 1024},
    ],
    "stream": [
        {"operation": operation, **sizes}
        for operation in OPERATIONS
        for sizes in ({"n": 1}, {"n": 2, "threads": 1}, {"n": 1000, "threads": 96}, {"n": 64, "threads": 1024})
    ],
}


def apsp_events(n, sub_block, threads):
    sub_blocks = -(-n // sub_block)
    steps = max(1, (n - 2).bit_length())
    elements = sub_block**2
    # An element and a sub-block along the row: 2 asyncs, 2 shared stores; S times 2 shared loads and 1 work event.
    along = elements * (4 + 3 * sub_block) + 3 * threads  # a thread: 1 join, 2 barriers
    return steps * sub_blocks**2 * (sub_blocks * along + elements)


def wyllie_events(n, **_):
    steps = max(1, (n - 1).bit_length())
    # Node d from the end has a successor until it has jumped over d nodes; then it reads it and adds.
    return sum(3 * n + 2 * max(0, n - 2**step) for step in range(steps))


def stream_events(n, operation="triad", **_):
    return n * {"init": 1, "read": 2, "scale": 3, "triad": 6, "stencil3": 6, "stencil5": 8}[operation]


EVENTS = {
    "apsp-minplus": (
        apsp_events,
        [{"n": 24, "sub_block": 8, "threads": 64}, {"n": 30, "sub_block": 4, "threads": 7}],
    ),
    "list-ranking-wyllie": (wyllie_events, [{"n": 100}, {"n": 1}, {"n": 1025, "threads": 100}]),
    "stream": (stream_events, [{"n": n, "operation": operation} for n in (77, 640) for operation in OPERATIONS]),
}

MISTAKES = {  # what stands in kernel.cu, what might stand there by mistake, and where it shows
    "apsp-minplus": [
        ("through < shortest[e] ?", "through > shortest[e] ?", {}),
        ("through += LDS", "through -= LDS", {}),
        ("k0 += SUB_BLOCK", "k0 += 2 * SUB_BLOCK", {}),
    ],
    "list-ranking-wyllie": [
        ("(unsigned)(node >> 32) + (unsigned)", "(unsigned)(node >> 32) - (unsigned)", {}),
        ("(i >= n)", "(i >= n - 1)", {}),
        ("| (unsigned)next", "| successor", {}),
    ],
    "stream": [
        ("x + y * z", "x - y * z", {"operation": "triad"}),
        ("scalar * x", "scalar + x", {"operation": "scale"}),
        ("ST(a, i, scalar);", "ST(a, i, -scalar);", {"operation": "init"}),
        ("x == -1234.0) ST(a, i, x)", "x != -1234.0) ST(a, i, -x)", {"operation": "read"}),
        ("0.25 * (west + east) + 0.5", "0.25 * (west - east) + 0.5", {"operation": "stencil3"}),
        ("0.375 * centre", "0.375 / centre", {"operation": "stencil5"}),
        ("if (i < n) ST", "if (i + 1 < n) ST", {"operation": "init"}),
    ],
}


def cases(table):
    return [
        pytest.param(name, case, id=f"{name}-{number}")
        for name in kernel_folders()
        for number, case in enumerate(table[name])
    ]


@pytest.mark.parametrize("name", kernel_folders())
def test_a_kernel_gives_the_right_answer_with_its_defaults(name):
    assert record(name).info.events > 0  # a wrong answer raises


@pytest.mark.parametrize(("name", "parameters"), cases(ODD))
def test_a_kernel_gives_the_right_answer_at_odd_sizes(name, parameters):
    assert record(name, parameters).info.events > 0


@pytest.mark.parametrize(("name", "parameters"), cases({name: sizes for name, (_, sizes) in EVENTS.items()}))
def test_a_kernel_has_the_events_of_its_algorithm(name, parameters):
    assert record(name, parameters).info.events == EVENTS[name][0](**parameters)


@pytest.mark.parametrize(("name", "mistake"), cases(MISTAKES))
def test_a_mistake_in_a_kernel_is_found_by_its_check(name, mistake, tmp_path):
    right, wrong, parameters = mistake
    folder = tmp_path / name
    shutil.copytree(kernel_folders()[name], folder)
    source = (folder / "kernel.cu").read_text()
    assert source.count(right) == 1
    (folder / "kernel.cu").write_text(source.replace(right, wrong))
    with pytest.raises(RecordingError, match="wrong answer"):
        record(folder, parameters)


@pytest.mark.parametrize("name", kernel_folders())
def test_another_seed_is_another_input(name):
    small = {"n": 40}
    inputs = [the_inputs(name, {**small, "seed": seed}) for seed in (0, 0, 1)]
    assert inputs[0] == inputs[1] != inputs[2]


def the_inputs(name, parameters):
    kernel = load_kernel(name)
    return {key: array.tobytes() for key, array in kernel.inputs(kernel.resolve(parameters)).items()}


def test_an_ordered_list_lies_in_order():
    trace = record("list-ranking-wyllie", {"n": 64, "threads": 64, "order": "ordered"})
    loads = [
        value for launch, kind, value in rows(trace, "launch", "kind", "value") if (launch, kind) == (0, Kind.LOAD)
    ]
    assert loads == [512 + 8 * node for thread in range(64) for node in (thread, thread + 1) if node < 64]
