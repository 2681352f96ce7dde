"""What a host.py says, told from its text: all that it says, or that only running it tells; and nothing is run."""

import pytest

from simtmm.catalogue import describe, known_kernels
from simtmm.catalogue.host_text import HostText, Untold
from simtmm.errors import KernelError
from simtmm.kernel import kernel_in
from simtmm.parameter import SEED, Parameter

SHIPPED = {name: known.path for name, known in known_kernels().items() if known.origin == "shipped"}
FUNCTIONS = "def inputs(p): ...\ndef launches(p, memory): ...\ndef check(p, before, after): ...\n"
IMPORT = "from simtmm.kernel import Parameter\n"
PARAMETERS = 'PARAMETERS = {"n": Parameter(4, "a size")}\n'
SIZE = Parameter(4, "a size")


def text(body, imported=IMPORT):
    return HostText(f"{imported}{body}\n{FUNCTIONS}".encode(), "host.py")


def parameters(body, imported=IMPORT):
    return text(body, imported).parameters()


@pytest.mark.parametrize("name", SHIPPED)
def test_of_a_shipped_kernel_all_is_reported_as_running_it_tells(name):
    reported, kernel = describe(name, SHIPPED[name]), kernel_in(SHIPPED[name])
    followed = kernel.algorithm(kernel.resolve({}))
    assert (reported.untold, reported.fault) == ((), "")
    assert list(reported.parameters.items()) == list(kernel.parameters.items())
    assert (reported.about, reported.paper) == (kernel.about, kernel.paper)
    assert reported.algorithm == (followed and followed[0])


def most(maximum):
    return Parameter(4, "x", maximum=maximum)


def one_of(*choices):
    return Parameter(choices[0], "x", choices=choices)


# --- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (PARAMETERS, {"n": SIZE}),
        ('PARAMETERS: dict = {"n": Parameter(4, "a size")}', {"n": SIZE}),
        ('PARAMETERS = {"n": Parameter(help="a size", default=4)}', {"n": SIZE}),
        ('PARAMETERS = {"n": Parameter(2 ** 3 - 1 << 2, "a " "size")}', {"n": Parameter(28, "a size")}),
        ('MOST = 2**20\nPARAMETERS = {"n": Parameter(4, "x", maximum=MOST - 1)}', {"n": most(2**20 - 1)}),
        ('A, B = 4, "a size"\nPARAMETERS = {"n": Parameter(A, B)}', {"n": SIZE}),
        ('N = Parameter(4, "a size")\nPARAMETERS = {"n": N}', {"n": SIZE}),
        ('PARAMETERS = {"n": Parameter("a", "x", choices=("a", "c"))}', {"n": one_of("a", "c")}),
        ('PARAMETERS = {"n": Parameter(2, "x", choices=tuple(2**lg for lg in range(1, 4)))}', {"n": one_of(2, 4, 8)}),
        (f'MORE = {{"m": Parameter(4, "a size")}}\n{PARAMETERS[:-2]}, **MORE}}', {"n": SIZE, "m": SIZE}),
        (
            'PARAMETERS = {"n": Parameter(2, "a size", choices=[1, 2])}',
            {"n": Parameter(2, "a size", choices=[1, 2])},
        ),
        ("PARAMETERS = {}", {}),
    ],
)  # fmt: skip
def test_parameters_are_reported_from_what_is_written(body, told):
    assert parameters(body) == {**told, "seed": SEED}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="there are none"),
        pytest.param('import os\nPARAMETERS = {"n": Parameter(len(os.listdir()), "a size")}', id="a call"),
        pytest.param('PARAMETERS = {"n": Parameter(4, "a size") for n in "ab"}', id="a comprehension"),
        pytest.param(PARAMETERS + 'PARAMETERS["m"] = Parameter(4, "a size")', id="more is put in"),
        pytest.param(PARAMETERS + "PARAMETERS.clear()", id="something is taken out"),
        pytest.param(PARAMETERS + "def fill():\n    PARAMETERS.clear()\nfill()", id="by a function"),
        pytest.param(PARAMETERS + "if True:\n    PARAMETERS = {}", id="is assigned twice"),
        pytest.param("if True:\n    PARAMETERS = {}", id="under a condition"),
        pytest.param(PARAMETERS + "globals()['PARAMETERS'] = {}", id="by globals"),
        pytest.param(PARAMETERS + "import sys\nsys.modules[__name__].PARAMETERS = {}", id="by its module"),
        pytest.param(PARAMETERS + "from os import *", id="by a star"),
        pytest.param('N = 4\nN += 1\nPARAMETERS = {"n": Parameter(N, "a size")}', id="a name that changes"),
        pytest.param('N = N\nPARAMETERS = {"n": Parameter(N, "a size")}', id="a name of itself"),
        pytest.param('def f():\n    global N\n    N = 5\nN = 4\nPARAMETERS = {"n": Parameter(N, "x")}', id="a global"),
        pytest.param('MORE = {}\nMORE["m"] = Parameter(4, "x")\nPARAMETERS = {**MORE}', id="a dict that changes"),
        pytest.param('PARAMETERS = {"n": Parameter(2 ** 10 ** 10, "x")}', id="a number that is too large"),
        pytest.param('PARAMETERS = {"n": Parameter(1 / 0, "x")}', id="no number"),
        pytest.param('PARAMETERS = {"n": Parameter(4)}', id="no parameter"),
        pytest.param('PARAMETERS = {"n": Parameter(4, "x" * 10 ** 9)}', id="a text that is too long"),
        pytest.param('PARAMETERS = {"n": Parameter(4, "%99999999d" % 1)}', id="a text that is made"),
        pytest.param(
            'tuple = print\nPARAMETERS = {"n": Parameter(4, "x", choices=tuple(range(3)))}', id="another tuple"
        ),
    ],
)
def test_parameters_that_may_be_others_when_it_is_run_are_not_told(body):
    with pytest.raises(Untold):
        parameters(body)


@pytest.mark.parametrize(
    "imported", ["", "from mine import Parameter\n", "from .kernel import Parameter\n", IMPORT + "Parameter = print\n"]
)
def test_only_the_parameter_of_simtmm_is_understood(imported):
    with pytest.raises(Untold):
        parameters(PARAMETERS, imported)


def test_parameter_may_have_another_name():
    assert parameters('PARAMETERS = {"n": P(4, "a size")}', "from simtmm.kernel import Parameter as P\n")["n"] == SIZE


# --- docstring and paper ----------------------------------------------------------------------------------------------


def test_the_docstring_is_reported():
    assert text("", '"""A probe.\n\n    More.\n"""\n').about() == "A probe.\n\nMore."


def test_a_docstring_that_is_assigned_is_not_told():
    with pytest.raises(Untold):
        text('__doc__ = "another"', '"""A probe."""\n').about()


def test_the_paper_is_reported_and_may_be_missing():
    assert text('PAPER = "000, " + "section 5"').paper() == "000, section 5"
    assert text("").paper() == ""


def test_a_paper_that_is_made_is_not_told():
    with pytest.raises(Untold):
        text('PAPER = "000".upper()').paper()


# --- algorithm --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("", None),
        ('def algorithm(p):\n    """Of it."""\n    m = p.n * 2\n    return "fft", {"N": m}', "fft"),
        ('def algorithm(p):\n    if p.n > 4:\n        return None\n    return "fft", {"N": p.n}', "fft"),
        ('def algorithm(p):\n    if p.n == 4 and not p.seed:\n        return None\n    return "fft", {}', None),
        ('def algorithm(p):\n    if p.n in (1, 2):\n        return None\n    else:\n        return "fft", {}', "fft"),
        ('def algorithm(p):\n    return ("fft" if p.n > 2 else "scan"), {}', "fft"),
        ('NAME = "fft"\ndef algorithm(p):\n    return NAME, {}', "fft"),
        ('def algorithm(p):\n    return', None),
        ('def algorithm(p):\n    pass', None),
    ],
)  # fmt: skip
def test_the_algorithm_is_reported_that_the_defaults_lead_to(body, told):
    assert text(PARAMETERS + body).algorithm() == told


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("def algorithm(p):\n    return name(p), {}", id="a name that is called for"),
        pytest.param('def algorithm(p):\n    return f"fft{p.n}", {}', id="a name that is made"),
        pytest.param('def algorithm(p):\n    return {"fft": 1}', id="no pair"),
        pytest.param('def algorithm(p):\n    if size(p) > 2:\n        return "fft", {}', id="a condition on a call"),
        pytest.param('def algorithm(p):\n    p = other\n    return "fft", {}', id="other parameters"),
        pytest.param('def algorithm(p):\n    for n in (1, 2):\n        return "fft", {}', id="a loop"),
        pytest.param('def algorithm(p):\n    yield\n    return "fft", {}', id="a generator"),
        pytest.param('N = "fft"\ndef algorithm(p):\n    N = 2\n    return N, {}', id="a local name"),
        pytest.param('@wrapped\ndef algorithm(p):\n    return "fft", {}', id="a decorator"),
        pytest.param('def algorithm(p):\n    return "fft", {}\nalgorithm = other', id="another function"),
        pytest.param("from mine import algorithm", id="an import"),
        pytest.param('def algorithm(p):\n    if p.m:\n        return "fft", {}', id="a parameter that is not there"),
        pytest.param("def __getattr__(name): ...", id="a function for names that are not there"),
    ],
)
def test_an_algorithm_that_may_be_another_when_it_is_run_is_not_told(body):
    with pytest.raises(Untold):
        text(PARAMETERS + body).algorithm()


# --- what can't be read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x = 1\ndef inputs(p:\n", "host.py:2: SyntaxError: "),
        (b"\x7fELF\x00\x01\xff\xfe", "host.py"),
        (b"x = " + b"-" * 100_000 + b"1", "host.py: is not valid Python ("),
        (b"x = " + b"9" * 5000, "host.py:1: SyntaxError: Exceeds the limit"),
        (b"", "host.py: must have a function inputs"),
    ],
    ids=["syntax", "binary", "nesting", "digits", "empty"],
)
def test_what_is_no_host_py_is_refused_in_a_line(content, message):
    with pytest.raises(KernelError) as caught:
        HostText(content, "host.py")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_null_bytes_are_refused_as_this_python_says_it():
    with pytest.raises(KernelError, match=r"^host\.py: .*source code string cannot contain null bytes"):
        HostText(b"x = 1\x00", "host.py")


def test_names_that_are_made_of_one_another_over_and_over_take_no_longer():
    chain = "".join(f"A{number + 1} = A{number} + A{number}\n" for number in range(100))
    with pytest.raises(Untold):
        text(f"A0 = 'x'\n{chain}PAPER = A100").paper()


def test_reading_a_host_py_runs_none_of_it(tmp_path):
    marker = tmp_path / "ran"
    HostText(f"{IMPORT}open({str(marker)!r}, 'w')\n{PARAMETERS}{FUNCTIONS}".encode(), "host.py").parameters()
    assert not marker.exists()
