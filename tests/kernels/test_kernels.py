"""The kernels that come with simtmm: right for odd sizes, with exactly the events of their algorithms."""

import functools
import importlib

import pytest

from simtmm import record
from simtmm.errors import RecordingError
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.trace.schema import Kind
from tests.kernels.variants import Variants
from tests.recorder.build import rows
from tests.recorder.conftest import needs_compiler

pytestmark = needs_compiler


class Cases:
    """A kernel's own cases, tests/kernels/cases/NAME.py (a dash in the name is an underscore in the file's).

    ODD: parameters, beside the defaults, at which the answer must be right. events(**parameters): how many events the
    algorithm has, by its own count; EVENTS: the parameters to try it at, two sizes at least. MISTAKES: what stands in
    kernel.cu, what might stand there by mistake, and the parameters at which the check sees it.
    """

    def __init__(self, name):
        module = importlib.import_module(f"tests.kernels.cases.{name.replace('-', '_')}")
        self.odd, self.events_at, self.events, self.mistakes = module.ODD, module.EVENTS, module.events, module.MISTAKES


CASES = {name: Cases(name) for name in kernel_folders()}


def cases(which):
    return [
        pytest.param(name, case, id=f"{name}-{number}")
        for name, of_kernel in CASES.items()
        for number, case in enumerate(getattr(of_kernel, which))
    ]


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    """The variants of a kernel by its name."""
    scratch = tmp_path_factory.mktemp("variants")

    @functools.cache
    def of(name):
        case = CASES[name]
        right = [(parameters, None) for parameters in [*case.odd, *case.events_at]]
        wrong = [(parameters, (right, wrong)) for right, wrong, parameters in case.mistakes]
        return Variants(name, [*right, *wrong], scratch)

    return of


@pytest.mark.parametrize("name", kernel_folders())
def test_a_kernel_gives_the_right_answer_with_its_defaults(name):
    assert record(name).info.events > 0  # a wrong answer raises


@pytest.mark.parametrize(("name", "parameters"), cases("odd"))
def test_a_kernel_gives_the_right_answer_at_odd_sizes(name, parameters, variants):
    assert variants(name).record(parameters).info.events > 0


@pytest.mark.parametrize(("name", "parameters"), cases("events_at"))
def test_a_kernel_has_the_events_of_its_algorithm(name, parameters, variants):
    assert variants(name).record(parameters).info.events == CASES[name].events(**parameters)


@pytest.mark.parametrize(("name", "mistake"), cases("mistakes"))
def test_a_mistake_in_a_kernel_is_found_by_its_check(name, mistake, variants):
    right, wrong, parameters = mistake
    with pytest.raises(RecordingError, match="wrong answer"):
        variants(name).record(parameters, (right, wrong))


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
