"""The job that plants faults: which it finds in a source, and what becomes of those of a small package."""

import json
import os
import re
import shutil
import sys
import textwrap
from collections import Counter
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.mutation import report, server
from tests.mutation.__main__ import _arguments, main, within
from tests.mutation.chosen import drawn, equivalents, name_of, sources, written
from tests.mutation.covered import Covered, RecordedTest, _translated
from tests.mutation.faults import KINDS, Fault, candidates_of, faults_of, is_python
from tests.mutation.judged import COMPILED, Nearness, Verdict, difference, judged, ordered, selected
from tests.mutation.log import continued
from tests.mutation.measured import TOLD_LINES, WRITTEN, written_lines
from tests.mutation.running import ROOT, Outcome, Runner
from tests.mutation.tree import LentCache, linked, own_places, planted, synced
from tests.mutation.uses import Uses


def changes(text, *kinds):
    """The faults of a source as the lines they change, before and after, of some kinds."""
    source = textwrap.dedent(text).encode()
    return [fault.lines(source)[1] for fault in faults_of("m.py", source) if fault.kind in kinds]


@pytest.mark.parametrize(
    ("text", "kinds", "expected"),
    [
        ("x = a + b * c", ["operator"], ["x = a - b * c", "x = a + b + c"]),
        ("x = a <= b < c", ["operator"], ["x = a < b < c", "x = a <= b <= c"]),
        (
            "x = a and b or c == d",
            ["operator"],
            ["x = a and b and c == d", "x = a or b or c == d", "x = a and b or c != d"],
        ),
        ("x = a in b", ["operator"], ["x = a not in b"]),
        ("x = 'é' + a", ["operator"], ["x = 'é' - a"]),  # places are counted in bytes
        ("x = '%d' % a", ["operator"], []),  # a text that is formatted
        ("x = (a + 1) // b", ["rounding"], ["x = (-(-(a + 1) // (b)))"]),
        ("N = 64\nx = N // 8", ["rounding"], []),  # the same
        ("N = 65\nx = N // 8", ["rounding"], ["x = (-(-(N) // (8)))"]),
        ("N = 64\nif a:\n    N = 65\nx = M // N", ["rounding"], ["x = (-(-(M) // (N)))"]),
        ("x = 3", ["constant"], ["x = 4", "x = 2", "x = 0"]),
        ("x = 0", ["constant"], ["x = 1", "x = (-1)"]),
        ("x = 1.5", ["constant"], ["x = 3.0", "x = 2.5", "x = 0.0"]),
        ("x = True", ["constant"], []),
        ("x = f(a, b)", ["argument"], ["x = f(b)", "x = f(a)"]),
        ("x = f(a)", ["argument"], []),
        ("x = f(a, k=1)", ["argument"], ["x = f(a)"]),
        ("x = f(a, **k)", ["argument"], ["x = f(a)"]),
        ("x = sha256(a)", ["argument"], ["x = sha256()"]),  # of nothing
        ("x = [a, b, c]", ["field"], ["x = [b, c]", "x = [a, c]", "x = [a, b]"]),
        (
            "x = 'A note. Of two sentences.', f'That is {a} long.', a",
            ["field"],
            ["x = 'A note. Of two sentences.', f'That is {a} long.'"],
        ),  # what is told to people is no result
        ("x = {'a': 1, 'b': 2}", ["field"], ["x = {'b': 2}", "x = {'a': 1}"]),
        ("x, y = 1, 2", ["field"], []),  # Python would refuse it
        ("x = f(a[1:n])", ["range"], ["x = f(a[(1) + 1:n])", "x = f(a[1:(n) - 1])"]),
        ("range(n)", ["range"], ["range((n) - 1)", "range((n) + 1)"]),
        (
            "range(a, n, k)",
            ["range"],
            ["range(a, (n) - (k), k)", "range(a, (n) + (k), k)", "range((a) + (k), n, k)"],
        ),  # by a step, as less may change nothing
        ("x = f(a, b.c)", ["swap"], ["x = f(b.c, a)"]),
        ("x = f(a, 1)", ["swap"], []),
        ("x = max(a, b)", ["swap"], []),  # the same
        ("x = h.hexdigest()[:20]", ["range"], []),  # as good
        ("if a:\n    f()", ["condition"], ["if (not (a)):"]),
        ("x = not a", ["not"], ["x = (a)"]),
        ("x += 1", ["statement"], ["pass"]),
        ("f()", ["statement"], ["pass"]),
        ("x = 1", ["statement"], []),  # the name would not be there
        ("def f(a: int, b: int, c: str):\n    return a + g(c)", ["name"], ["return b + g(c)"]),
        ("def f(a):\n    return a", ["return"], ["return None"]),
        ("def f():\n    a()\n    b()", ["return"], ["return b()"]),  # `return` on a line of its own
    ],
)
def test_a_source_has_just_these_faults(text, kinds, expected):
    assert sorted(changes(text, *kinds)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        '"""About 3 things."""', "import a", "assert a + 1", "x: Annotated[int, 3]",
        "def f(a: g(1, 2)) -> h(3, 4): ...",
        "@cache(1)\ndef f(): ...", "if TYPE_CHECKING:\n    x = 1", "logger.warning(f(1), 2)", "x = f'{1 + 2}'",
        "__all__ = ['a', 'b']", "T = TypeVar('T', bound=1)",
    ],
)  # fmt: skip
def test_what_nobody_computes_with_has_no_faults(text):
    assert changes(text, *KINDS) == []


def test_each_fault_of_a_source_of_ours_is_python_and_changes_it():
    file = ROOT / "simtmm" / "sampling" / "interval.py"
    source = file.read_bytes()
    found = faults_of("simtmm/sampling/interval.py", source)
    assert {fault.kind for fault in found} > {"operator", "constant", "argument", "name", "condition", "return"}
    for fault in found:
        assert fault.planted(source) != source
        compile(fault.planted(source), "planted", "exec")
        assert source.count(b"\n") <= fault.planted(source).count(b"\n") <= source.count(b"\n") + 1


def test_the_seed_of_a_draw_and_the_size_that_is_left_are_as_good_as_another():
    assert changes("x = default_rng(3)\ny = f(3)\n", "constant") == ["y = f(4)", "y = f(2)", "y = f(0)"]
    assert changes("x = a.reshape(-1, b)\n", "constant") == []
    assert changes("x = a.reshape(b, 2)\n", "constant") == [f"x = a.reshape(b, {other})" for other in (3, 1, 0)]
    assert changes("x = f(-1)\n", "constant") == [f"x = f(-{other})" for other in (2, 0)]


def test_what_makes_keys_is_known():
    source = (
        b"def key(self):\n    return a, 1\n\ndef other(self):\n    return a, 1\n\ndef third():\n    f(sha256(a, 1))\n"
    )
    assert {(fault.function, fault.of_key) for fault in faults_of("m.py", source)} == {
        ("key", True), ("other", False), ("third", False), ("third", True),
    }  # fmt: skip


def test_a_seed_draws_the_same_faults_and_another_others():
    files = sources(ROOT, ["sampling/interval", "stalls"])
    first, again, other = (drawn(ROOT, files, 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({(each.file, each.begin, each.text) for each in first}) == len(first) == 20
    with pytest.raises(ValueError, match="--rooms nowhere: simtmm has no such folder or module"):
        sources(ROOT, ["nowhere"])


def test_faults_of_some_kinds_alone_are_drawn():
    found = drawn(ROOT, sources(ROOT, ["sampling", "stalls"]), 20, 1, ["rounding", "not"])
    assert Counter(each.kind for each in found).keys() == {"rounding", "not"}
    assert _arguments(["--kinds", "not,swap"]).kinds == ["not", "swap"]
    assert set(_arguments([]).kinds) >= {"not", "swap", "rounding"}
    with pytest.raises(SystemExit) as ended:
        _arguments(["--kinds", "not,round"])
    assert ended.value.code == 2


def test_each_equivalent_is_a_fault_that_can_be_planted():
    known = equivalents()
    by_file = {file: (ROOT / file).read_bytes() for file, *_ in known}
    candidates = ((fault, source) for file, source in by_file.items() for fault in candidates_of(file, source))
    listed = ((fault, source) for fault, source in candidates if name_of(fault, source) in known)
    there = {name_of(fault, source) for fault, source in listed if is_python(fault.planted(source))}
    assert set(known) <= there
    assert all(known.values())


SOURCE = """\
LIMIT = 3


def above(x):
    if x > LIMIT:
        return x - LIMIT
    return 0


def unseen(x):
    return x + 1


def slow(x):
    while x < 100:
        x += 1
    return x
"""
TESTS = """\
import pytest

from simtmm.small import above, slow


def test_above():
    assert above(5) == 2


def test_slow():
    assert slow(1) == 100


def test_wrong():
    assert above(4) == 7
"""
FILE, OF_TESTS = "simtmm/small.py", "tests/test_small.py"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A tree with a package of that name, its tests, and this job."""
    made = tmp_path_factory.mktemp("tree")
    for folder in ("simtmm", "simtmm/scripts", "tests"):
        (made / folder).mkdir()
        (made / folder / "__init__.py").touch()
    (made / "simtmm" / "scripts" / "pytest_plugin.py").touch()  # which pytest looks for
    shutil.copytree(Path(server.__file__).parent, made / "tests" / "mutation")
    (made / FILE).write_text(SOURCE)
    (made / OF_TESTS).write_text(TESTS)
    return made


@pytest.fixture(scope="module")
def runner(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("folders")
    (folder / "cache").mkdir()
    with Runner(tree, folder / "cache", folder / "scratch") as made:
        yield made


class Known:
    """What is recorded of the small package, by hand."""

    def __init__(self):
        above, slow = (RecordedTest(f"{OF_TESTS}::test_{name}", 0.1, 9) for name in ("above", "slow"))
        self.by = {5: [above], 6: [above], 15: [slow], 16: [slow], 17: [slow]}

    def of(self, file, lines):
        return list({test.name: test for line in lines for test in self.by.get(line, [])}.values())

    def naming(self, words):
        return [RecordedTest(f"{OF_TESTS}::test_{word}", 0.1, 9) for word in words if word in self.named]

    def unrecorded(self, file, most=None):
        return [f"{OF_TESTS[: OF_TESTS.rindex('/')]}/{name}" for name in self.lacking]

    def whole(self, source, is_seen=True):
        self.was_seen = is_seen
        return [f"{OF_TESTS[: OF_TESTS.rindex('/')]}/{name}" for name in self.outputs]

    def in_room(self, file):
        return [RecordedTest(f"{OF_TESTS}::test_{name}", 0.1, 9) for name in self.beside], []

    def of_its_name(self, file):
        return [RecordedTest(f"{OF_TESTS}::test_{name}", 0.1, 9) for name in self.namesakes]

    def importing(self, file):
        return [RecordedTest(f"{OF_TESTS}::test_{name}", 0.1, 9) for name in self.importers]

    named = lacking = outputs = beside = importers = namesakes = ()


def fault(tree, before, after):
    """The fault that makes one line of the other."""
    source = (tree / FILE).read_bytes()
    (found,) = [each for each in faults_of(FILE, source) if each.lines(source) == (before, after)]
    return found


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("return x - LIMIT", "return x + LIMIT", "caught"),
        ("if x > LIMIT:", "if x >= LIMIT:", "survived"),
        ("LIMIT = 3", "LIMIT = 4", "caught"),  # by the tests of what uses it
        ("return x + 1", "return x - 1", "survived"),  # nothing runs it
        ("x += 1", "pass", "timed out"),
    ],
)
def test_a_fault_is_caught_or_survives(tree, runner, before, after, what):
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, before, after), source, Known(), Uses(tree), runner, 4.0)
    assert verdict.what == what
    assert verdict.tests == (0 if "x + 1" in before else 1)
    assert f"-    {before}".replace("    LIMIT", "LIMIT") in verdict.difference.replace("-        ", "-    ")
    assert (tree / FILE).read_bytes() == source


@pytest.mark.parametrize("gone", ["gone", "slow[renamed]"])
@pytest.mark.parametrize(("others", "what"), [(["above"], "caught"), ([], "survived")])
def test_tests_that_are_no_longer_there_are_left_out(tree, runner, gone, others, what):
    number = len(others) + (bool(others) and "[" in gone)  # whether an example is there is not known beforehand

    class Ran(Known):
        def __init__(self):
            tests = [RecordedTest(f"{OF_TESTS}::test_{name}", 0.1, 9) for name in (gone, *others)]
            self.by = {6: tests}

    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, Ran(), Uses(tree), runner, 4.0)
    assert (verdict.what, verdict.tests) == (what, number)


@pytest.mark.parametrize(("without", "what"), [(0, "timed out"), (None, "survived")])
def test_tests_that_take_too_long_without_the_fault_too_say_nothing(tree, without, what):
    class Stub:
        def __init__(self):
            self.tree, self.statuses = tree, [None, without]

        def types(self):
            return ""

        def wrong(self, file, content):
            return ""

        def run(self, tests, seconds, as_python=False, left_out=()):
            return Outcome(self.statuses.pop(0), 1.0, "")

    source = (tree / FILE).read_bytes()
    of = fault(tree, "return x - LIMIT", "return x + LIMIT")
    verdict = judged(of, source, Known(), Uses(tree), Stub(), 100.0)
    assert (verdict.what, "without the fault too" in verdict.by) == (what, what == "survived")
    assert verdict.seconds == 2.0


def test_a_test_that_fails_without_the_fault_too_is_left_out(tree, runner):
    ran = Known()
    ran.by = {5: [RecordedTest(f"{OF_TESTS}::test_{name}", 0.1, 9) for name in ("wrong", "slow")]}
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "if x > LIMIT:", "if x >= LIMIT:"), source, ran, Uses(tree), runner, 4.0)
    assert (verdict.what, verdict.tests, verdict.failed) == ("survived", 1, "")


@pytest.mark.parametrize(
    ("assertion", "what"),
    [("above(3) == 4", "survived"), ("above(4) == 1", "caught"), ("above(4) == 2", "survived")],
)
def test_files_without_a_record_are_run_last_and_what_fails_without_the_fault_too_says_nothing(
    tree, runner, assertion, what
):
    more = (tree / OF_TESTS).with_name("test_more.py")
    of = (tree / OF_TESTS).read_text().partition("\ndef ")[0]
    name = re.sub(r"\W+", "_", assertion)  # what a runner has seen of a test holds for all of the run
    more.write_text(f"{of}\n\ndef test_{name}():\n    assert {assertion}\n")
    ran = Known()
    ran.by, ran.lacking = {}, ["test_more.py"]
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, ran, Uses(tree), runner, 4.0)
    assert verdict.what == what, verdict.by
    assert "of no record" in verdict.by


@pytest.mark.parametrize(("value", "what"), [(1, "survived"), (7, "caught")])  # without the fault, and with it
def test_a_run_that_dies_has_noticed_a_fault_unless_it_dies_without_it(tree, runner, value, what):
    more = (tree / OF_TESTS).with_name("test_ends.py")
    more.write_text(
        "import os\nimport signal\n\nfrom simtmm.small import above\n\n\n"
        f"def test_it():\n    if above(4) in (7, {value}):\n        os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    ran = Known()
    ran.by, ran.lacking = {}, ["test_ends.py"]
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, ran, Uses(tree), runner, 4.0)
    assert (verdict.what, verdict.by.startswith("died; ")) == (what, what == "caught"), verdict.by


@pytest.mark.parametrize(
    ("first", "without", "what", "asked"),
    [
        (b"", 0, "caught", [4.0, 1.0]), (b"", None, "survived", [4.0, 1.0]),
        (b"from simtmm.native import inlined\n", 0, "survived", [4.0]),  # LLVM may take as long as it likes
    ],
)  # fmt: skip
def test_a_run_that_takes_four_times_as_long_has_noticed_a_fault_but_of_a_loop_that_is_compiled_anew(
    tree, first, without, what, asked
):
    source = first + (tree / FILE).read_bytes()
    (of,) = [each for each in faults_of(FILE, source) if each.lines(source)[1] == "return x + LIMIT"]

    class Stub:
        def __init__(self):
            self.tree, self.asked = tree, []

        def types(self):
            return ""

        def wrong(self, file, content):
            return ""

        def run(self, tests, seconds, as_python=False, left_out=()):
            self.asked.append(seconds)
            is_planted = (tree / FILE).read_bytes() == of.planted(source)
            return Outcome(None if is_planted else without, seconds, "")

    known, stub = Known(), Stub()
    known.by, known.lacking = {}, ["test_more.py"]
    verdict = judged(of, source, known, Uses(tree), stub, 4.0, last=0.0)
    assert (verdict.what, verdict.by.startswith("took far too long; ")) == (what, what == "caught")
    assert stub.asked == asked


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize(("expected", "what"), [(1, "survived"), (2, "caught")])
def test_whole_outputs_are_compared_last_however_long_they_take(tree, runner, expected, what, is_recorded):
    folder = (tree / OF_TESTS).parent / f"outputs_{expected}"
    folder.mkdir(exist_ok=True)
    (folder / "test_whole.py").write_text(
        f"from simtmm.small import above\n\n\ndef test_it():\n    assert above(4) == {expected - 1} \n"
    )
    assert Covered(tree, folder).whole(FILE)[-1] == f"tests/outputs_{expected}/test_whole.py"
    known, file = Known(), f"outputs_{expected}/test_whole.py"
    if is_recorded:
        known.by = {6: [RecordedTest(f"tests/{file}::test_it", 1000.0, 9), *known.by[16]]}
    else:
        known.by, known.outputs = {6: known.by[16]}, [file]
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0)
    assert (verdict.what, "whole outputs" in verdict.by) == (what, True)
    without = judged(
        fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0, last=0.0
    )
    assert (without.what, "whole outputs" in without.by) == ("survived", False)


def test_all_whole_outputs_are_compared_where_a_fault_runs_on_import_those_near_it_first(tree, runner, tmp_path):
    for folder, expected in (("a", 1), ("scripts", 1), ("scripts/inner", 0)):  # above(4) is 1, and 0 with the fault
        at = (tree / OF_TESTS).parent / folder
        at.mkdir(parents=True, exist_ok=True)
        (at / "test_whole.py").write_text(
            f"from simtmm.small import above\n\n\ndef test_it():\n    assert above(4) == {expected}\n"
        )
    covered = Covered(tree, tmp_path)
    for file in ("tests/a/test_whole.py", "tests/scripts/test_whole.py"):
        place = covered._place(file)  # of its record
        place.mkdir(parents=True)
        (place / "sources.json").write_text("{}")
        (place / "tests.json").write_text('{"test_it": {}}')
    files = ["tests/a/test_whole.py", "tests/scripts/inner/test_whole.py", "tests/scripts/test_whole.py"]

    def found(*given):
        return [file for file in covered.whole(*given) if file in files]

    assert found("simtmm/scripts/m.py") == files[1:2]  # which has no record
    assert found("simtmm/scripts/m.py", False) == [*files[1:], files[0]]
    assert found("simtmm/scripts/inner/m.py", False) == [files[1], files[2], files[0]]
    assert found("simtmm/a/m.py", False) == files

    known, source = Known(), (tree / FILE).read_bytes()
    known.by, known.outputs = {}, ["a/test_whole.py"]
    verdict = judged(fault(tree, "LIMIT = 3", "LIMIT = 4"), source, known, Uses(tree), runner, 4.0)
    assert (verdict.what, "whole outputs" in verdict.by, known.was_seen) == ("caught", True, False)
    judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0)
    assert known.was_seen


@pytest.mark.parametrize(
    ("of_import", "what", "is_recorded"),
    [("above(4) == 1", "caught", True), ("above(4) == 1", "caught", False), ("above(4) == 7", "survived", False)],
)
def test_a_file_that_can_t_be_imported_has_noticed_a_fault_unless_it_never_can(
    tree, runner, of_import, what, is_recorded
):
    name = f"test_on_import_{of_import[-1]}.py"
    (tree / "tests" / name).write_text(
        f"from simtmm.small import above, slow\n\nassert {of_import}\n\n\ndef test_it():\n    assert slow(1) == 100\n"
    )
    known = Known()
    known.by = {6: [RecordedTest(f"tests/{name}::test_it", 0.1, 9)]} if is_recorded else {}
    known.lacking = () if is_recorded else [name]
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0)
    assert verdict.what == what
    assert (f"tests/{name}" in verdict.by) == (what == "caught")


@pytest.mark.parametrize(("beside", "what"), [(["slow"], "survived"), (["wrong", "slow", "above"], "caught")])
def test_the_room_s_tests_come_at_last_and_those_that_fail_without_the_fault_too_are_left_out(
    tree, runner, beside, what
):
    known = Known()
    known.by, known.beside = {}, beside
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0)
    assert (verdict.what, "at last" in verdict.by) == (what, True)


@pytest.mark.parametrize(("first", "what"), [(b"from simtmm.native import inlined\n", "caught"), (b"", "survived")])
def test_tests_named_as_a_source_of_loops_run_it_though_nobody_sees_it(tree, first, what):
    class Stub:
        def __init__(self):
            self.tree, self.asked = tree, []

        def types(self):
            return ""

        def wrong(self, file, content):
            return ""

        def run(self, tests, seconds, as_python=False, left_out=()):
            self.asked += tests
            return Outcome(1 if what == "caught" else 0, 1.0, f"FAILED {tests[0]} - assert 1 == 2\n")

        def passes(self, test, seconds, as_python=False):
            return True

    source, known, stub = first + (tree / FILE).read_bytes(), Known(), Stub()
    (of,) = [each for each in faults_of(FILE, source) if each.lines(source)[1] == "return x + LIMIT"]
    known.by, known.namesakes = {}, ["above"]
    assert judged(of, source, known, Uses(tree), stub, 4.0, last=0.0).what == what
    assert stub.asked == ([f"{OF_TESTS}::test_above"] if first else [])


@pytest.mark.parametrize(
    ("first", "kind", "order"),
    [
        (b"", "operator", ["run", "types"]), (b"from simtmm.native import inlined\n", "operator", ["types"]),
        (b"", "constant", ["run", "run", "types"]),  # which seldom is another type
    ],
)  # fmt: skip
@pytest.mark.parametrize("are_right", [True, False])
def test_types_are_looked_at_when_the_nearest_tests_have_noticed_nothing(tree, first, kind, order, are_right):
    """What mypy finds without the fault, too, says nothing."""
    asked = []

    class Stub:
        types_are_right = are_right

        def __init__(self):
            self.tree = tree

        def types(self):
            asked.append("types")
            return "small.py:6: error"

        def wrong(self, file, content):
            return ""

        def run(self, tests, seconds, as_python=False, left_out=()):
            asked.append("run")
            return Outcome(0, 1.0, "")

    source, known = first + (tree / FILE).read_bytes(), Known()
    known.by = {
        line: [RecordedTest(f"{OF_TESTS}::test_above[{n}]", 0.01, 9) for n in range(26)] for line in range(1, 20)
    }
    of = next(each for each in faults_of(FILE, source) if each.kind == kind)
    verdict = judged(of, source, known, Uses(tree), Stub(), 4.0, last=0.0)
    if are_right:
        assert (verdict.what, verdict.by.endswith("small.py:6: error"), asked) == ("caught", True, order)
    else:
        assert (verdict.what, asked[: len(order)]) == ("survived", order)


def test_tests_that_import_the_source_come_at_last(tree, runner):
    known = Known()
    known.by, known.importers = {}, ["above"]
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0)
    assert (verdict.what, verdict.by.endswith("1 at last")) == ("caught", True)


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("from simtmm.a.m import f\n", ["simtmm/a/m.py"]), ("import simtmm.a.m\n", ["simtmm/a/m.py"]),
        ("from simtmm.a import more\n", ["simtmm/a/m.py", "simtmm/a/__init__.py", "simtmm/a/more.py"]),
        ("from simtmm.a.m2 import f\n", []), ("from simtmm import a\n", []),
    ],
)  # fmt: skip
def test_a_file_of_tests_imports_a_source_or_what_its_folder_offers(tmp_path, text, files):
    recorded_by_hand(tmp_path, text + "def test_one(): pass\n", test_one=True)
    every = ["simtmm/a/m.py", "simtmm/a/__init__.py", "simtmm/a/more.py"]
    assert [file for file in every if Covered(tmp_path, tmp_path).importing(file)] == files
    assert [file for file in every if Covered(tmp_path, tmp_path).of_its_name(file)] == ["simtmm/a/m.py"]


def test_tests_that_run_a_line_and_were_too_many_come_at_last(tree, runner):
    known = Known()
    slow = [RecordedTest(f"{OF_TESTS}::test_slow", 0.9, 1), RecordedTest(f"{OF_TESTS}::test_above", 9.0, 9)]
    known.by = {6: slow}
    source = (tree / FILE).read_bytes()
    verdict = judged(fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0)
    assert (verdict.what, verdict.tests, verdict.by.endswith("2 at last")) == ("caught", 1, True)
    without = judged(
        fault(tree, "return x - LIMIT", "return x + LIMIT"), source, known, Uses(tree), runner, 4.0, last=0.0
    )
    assert without.what == "survived"


def test_arguments_that_go_to_others_parameters_are_noticed_by_the_suite_s_test_of_them(tree, runner):
    before, test = (tree / FILE).read_bytes(), tree / "tests" / "test_arguments.py"
    source = (
        b"def area(width, height):\n    return width * height\n\n\ndef twice(width, height):\n    area(width, height)\n"
    )
    (swap,) = [each for each in faults_of(FILE, source) if each.kind == "swap"]
    try:
        (tree / FILE).write_bytes(source)
        survived = judged(swap, source, Known(), Uses(tree), runner, 4.0)
        test.touch()
        caught = judged(swap, source, Known(), Uses(tree), runner, 4.0)
        both = source + b"area(height, width)\n"  # which it finds without the fault, too
        as_before = judged(swap, both, Known(), Uses(tree), runner, 4.0)
    finally:
        test.unlink(missing_ok=True)
        (tree / FILE).write_bytes(before)
    assert (survived.what, caught.what, as_before.what) == ("survived", "caught", "survived")
    assert caught.by.endswith("simtmm.small: area(height=width)")


@pytest.mark.parametrize(
    ("before", "after", "by"),
    [
        ("return width - height", "return width - width", "test_loose_names.py"),
        ("return width - height", "return height - height", "test_loose_names.py"),
        ("import math", "import maths", "test_house.py"),
        ("return math.gcd(width)", "return width", "test_house.py"),
        ("return math.gcd(width)", "return math.gcd((width))", ""),  # nothing that a person would not see
    ],
)
def test_what_the_suite_s_tests_of_sources_find_is_noticed(tree, runner, before, after, by):
    source = "import math\n\n\ndef area(width, height):\n    return width - height\n\n\n"
    source += "def of(width):\n    return math.gcd(width)\n"
    tests = [tree / "tests" / name for name in ("test_arguments.py", "test_loose_names.py", "test_house.py")]
    if "house" in by:
        pytest.importorskip("ruff")
    try:
        [test.touch() for test in tests]
        assert runner.wrong(FILE, source.encode()) == ""
        found = runner.wrong(FILE, source.replace(before, after).encode())
    finally:
        [test.unlink() for test in tests]
    assert (found.startswith(f"tests/{by}::"), bool(found)) == (bool(by), bool(by))
    assert runner.wrong(FILE, source.replace(before, after).encode()) == ""  # a tree without them


def test_a_room_s_tests_are_those_of_the_nearest_folder_with_its_name(tmp_path):
    recorded_by_hand(tmp_path, ONE_AND_OTHER, test_one=True, test_other=False)
    (tmp_path / "tests" / "a" / "deeper").mkdir()
    for name in ("a/deeper/test_n.py", "test_top.py"):
        (tmp_path / "tests" / name).write_text("")
    one, other, deeper = f"{RECORDED_FILE}::test_one", f"{RECORDED_FILE}::test_other", "tests/a/deeper/test_n.py"
    found = {
        file: ([test.name for test in known], unknown)
        for file in ("simtmm/a/m.py", "simtmm/a/deeper/m.py", "simtmm/a/b/m.py", "simtmm/m.py")
        for known, unknown in [Covered(tmp_path, tmp_path).in_room(file)]
    }
    assert found == {
        "simtmm/a/m.py": ([one], [deeper, other]), "simtmm/a/deeper/m.py": ([], [deeper]),
        "simtmm/a/b/m.py": ([one], [deeper, other]), "simtmm/m.py": ([], []),
    }  # fmt: skip


def test_a_test_that_was_ended_as_it_took_too_long_runs_the_lines_that_it_ran(tree, runner, tmp_path):
    pytest.importorskip("coverage")
    file = tree / "tests" / "test_long.py"
    file.write_text("from simtmm.small import slow\n\n\ndef test_long():\n    while slow(1):\n        pass\n")
    try:
        found = Covered(tree, tmp_path).record(["tests/test_long.py"], runner, (0.5, 9.0), (0.0, 0.0))
        (test,) = found.values()
        assert (test.name, test.seconds > 1.0) == ("tests/test_long.py::test_long", True)  # it takes longer than 0.5
        assert [each.name for each in Covered(tree, tmp_path).of(FILE, [16])] == [test.name]
        assert test.file not in Covered(tree, tmp_path).unrecorded(FILE)
    finally:
        file.unlink()


def test_a_test_that_never_ends_leaves_a_record_and_so_do_the_files_behind_it(tree, runner, tmp_path):
    pytest.importorskip("coverage")
    texts = {
        "test_never.py": "import threading\n\n\ndef test_never():\n    while True:\n        try:\n"
        "            threading.Event().wait()\n        except BaseException:\n            pass\n",
        "test_next.py": "from simtmm.small import slow\n\n\ndef test_next():\n    assert slow(0) is not None\n",
    }  # fmt: skip
    try:
        for name, text in texts.items():
            (tree / "tests" / name).write_text(text)
        found = Covered(tree, tmp_path).record([f"tests/{name}" for name in texts], runner, (0.1, 9.0), (0.0, 0.0))
        assert sorted(found) == ["tests/test_never.py::test_never", "tests/test_next.py::test_next"]
    finally:
        for name in texts:
            (tree / "tests" / name).unlink()


def test_a_record_of_no_test_is_none_and_hides_no_earlier_one(tmp_path):
    recorded_by_hand(tmp_path, ONE_AND_OTHER, test_one=True, test_other=True)
    assert Covered(tmp_path, tmp_path).lacking([RECORDED_FILE]) == []
    (tmp_path / RECORDED_FILE).write_text(f"{ONE_AND_OTHER}\n")
    empty = Covered(tmp_path, tmp_path)._place(RECORDED_FILE)
    empty.mkdir()
    for name in ("tests.json", "sources.json"):
        (empty / name).write_text("{}")
    assert Covered(tmp_path, tmp_path).lacking([RECORDED_FILE]) == [RECORDED_FILE]
    assert len(Covered(tmp_path, tmp_path).in_room("simtmm/a/m.py")[0]) == 2


def test_a_file_without_a_record_is_near_by_its_name_what_it_imports_or_its_folder(tmp_path):
    texts = {
        "tests/a/test_m.py": "", "tests/a/test_other.py": "", "tests/b/test_x.py": "from simtmm.a import k, m\n",
        "tests/b/test_y.py": "import simtmm.a.m\n", "tests/b/test_z.py": "from simtmm.a import more\n",
        "tests/c/test_m.py": "from simtmm.a.m import f\n",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert Covered(tmp_path, tmp_path / "cache").unrecorded("simtmm/a/m.py") == [
        "tests/a/test_m.py", "tests/c/test_m.py", "tests/b/test_x.py", "tests/b/test_y.py", "tests/a/test_other.py",
    ]  # fmt: skip


RECORDED_FILE = "tests/a/test_m.py"
ONE_AND_OTHER = "def test_one(): pass\ndef test_other(): pass\n"


def recorded_by_hand(folder, text, **passed):
    """A record of a file of tests with this text: of each function whether it passed."""
    (folder / "tests" / "a").mkdir(parents=True, exist_ok=True)
    (folder / RECORDED_FILE).write_text(text)
    place = Covered(folder, folder)._place(RECORDED_FILE)
    place.mkdir(parents=True)
    (place / "sources.json").write_text("{}")
    tests = {f"{RECORDED_FILE}::{name}": {"passed": is_so, "seconds": 1.0} for name, is_so in passed.items()}
    (place / "tests.json").write_text(json.dumps(tests))


@pytest.mark.parametrize(("passed", "near"), [(True, []), (False, [f"{RECORDED_FILE}::test_other"])])
def test_a_function_is_run_too_whose_tests_were_left_out(tmp_path, passed, near):
    recorded_by_hand(tmp_path, ONE_AND_OTHER, test_one=True, test_other=passed)
    assert Covered(tmp_path, tmp_path).unrecorded("simtmm/a/m.py") == near


def test_a_function_that_was_not_reached_while_its_file_was_recorded_is_run_too(tmp_path):
    recorded_by_hand(tmp_path, ONE_AND_OTHER, test_one=True)
    assert Covered(tmp_path, tmp_path).unrecorded("simtmm/a/m.py") == [f"{RECORDED_FILE}::test_other"]


def test_of_a_file_of_tests_that_has_changed_the_last_record_holds_for_what_is_still_there(tmp_path):
    recorded_by_hand(tmp_path, "older", test_gone=True)
    recorded_by_hand(tmp_path, "old", test_same=True, test_gone=True)
    now = "def test_new(): pass\ndef test_same(): pass\nclass TestMore:\n    def test_in_a_class(self): pass\n"
    (tmp_path / RECORDED_FILE).write_text(now)
    covered = Covered(tmp_path, tmp_path)
    assert [test.name for test in covered.naming({"test_same"})] == [f"{RECORDED_FILE}::test_same"]
    assert covered.unrecorded("simtmm/a/m.py") == [
        f"{RECORDED_FILE}::test_new", f"{RECORDED_FILE}::TestMore::test_in_a_class",
    ]  # fmt: skip
    assert covered.unrecorded("simtmm/a/m.py", 0) == []
    assert covered.lacking([RECORDED_FILE]) == [RECORDED_FILE]


def test_what_is_recorded_is_found_by_line_though_lines_move(tree, runner, tmp_path):
    pytest.importorskip("coverage")
    found = Covered(tree, tmp_path).record([OF_TESTS], runner)
    assert {name.partition("::")[2] for name in found} == {"test_above", "test_slow"}  # those that pass

    def names(line):
        return [test.name.partition("::")[2] for test in Covered(tree, tmp_path).of(FILE, [line])]

    assert (names(6), names(11), names(16)) == (["test_above"], [], ["test_slow"])
    with planted(tree / FILE, b"# more\n" + (tree / FILE).read_bytes()):
        assert (names(6), names(7)) == (["test_above"], ["test_above"])
        assert Covered(tree, tmp_path).lacking([OF_TESTS]) == []
    other = tree / "simtmm" / "renamed.py"
    (tree / FILE).rename(other)
    with planted(other, b"# more\n" + other.read_bytes()):
        moved = Covered(tree, tmp_path).of("simtmm/renamed.py", [7])
    with planted(other, b"LIMIT = 3\n"):
        assert Covered(tree, tmp_path).of("simtmm/renamed.py", range(99)) == []
    other.rename(tree / FILE)
    assert [test.name for test in moved] == [f"{OF_TESTS}::test_above"]
    with planted(tree / OF_TESTS, b"# more\n" + (tree / OF_TESTS).read_bytes()):
        assert Covered(tree, tmp_path).lacking([OF_TESTS]) == [OF_TESTS]
        assert (names(6), names(11), names(16)) == (["test_above"], [], ["test_slow"])  # as it was recorded last


def test_a_process_that_a_test_starts_is_recorded_in_whatever_folder_and_prints_what_it_prints_unmeasured(
    tree, runner, tmp_path
):
    pytest.importorskip("coverage")
    file = "tests/test_processes.py"
    (tree / file).write_text("""\
import subprocess
import sys


def said(tmp_path, text):
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_quiet(tmp_path):
    assert said(tmp_path, "import sys; print('pytest' in sys.modules)") == (0, "False\\n", "")


def test_above_of_5(tmp_path):
    assert said(tmp_path, "from simtmm.small import above; print(above(5))") == (0, "2\\n", "")
""")
    found = Covered(tree, tmp_path).record([file], runner)
    (tree / file).unlink()
    assert {name.partition("::")[2] for name in found} == {"test_quiet", "test_above_of_5"}
    assert found[f"{file}::test_above_of_5"].lines > 0


@pytest.mark.skipif(sys.version_info < TOLD_LINES, reason="coverage.py's data are written as Python ends")
def test_what_a_process_ran_is_recorded_though_it_ends_at_once_and_so_is_what_it_forked(tree, runner, tmp_path):
    pytest.importorskip("coverage")
    file = "tests/test_at_once.py"
    (tree / file).write_text("""\
import subprocess
import sys

ENDS = "import os; from simtmm import small; os.fork() or (small.above(5), os._exit(0)); os.wait(); os._exit(3)"


def test_at_once(tmp_path):
    assert subprocess.run([sys.executable, "-c", ENDS], cwd=tmp_path).returncode == 3
""")
    found = Covered(tree, tmp_path).record([file], runner)
    names = [each.name for each in Covered(tree, tmp_path).of(FILE, [6])]
    (tree / file).unlink()
    assert names == [*found] == [f"{file}::test_at_once"]


def test_what_a_process_wrote_of_its_lines_is_read_but_for_a_part_of_one(tmp_path):
    (tmp_path / f"coverage.7{WRITTEN}").write_text("a test\tfile.py\t12\nother\ta\tb.py\t3\nlast\tfile.p")
    (tmp_path / "coverage.8").write_text("nothing")
    assert [*written_lines(tmp_path / "coverage")] == [("a test", "file.py", 12), ("other", "a\tb.py", 3)]


def test_lines_are_found_where_they_have_gone():
    assert _translated(b"a\nb\nc\n", b"x\na\nc\n") == {1: 2, 3: 3}


def test_a_default_is_looked_at_by_the_tests_of_its_function(tmp_path):
    (tmp_path / "simtmm").mkdir()
    source = b"def f(a=1):\n    b = 2\n    return a + b\n"
    (tmp_path / "simtmm" / "m.py").write_bytes(source)
    test = RecordedTest("t.py::test", 0.1, 1)

    class Ran(Known):
        def __init__(self):
            self.by = {3: [test]}

    found = {each.line: selected(each, source, Ran(), Uses(tmp_path)) for each in faults_of("simtmm/m.py", source)}
    assert found == {1: [test], 2: [], 3: [test]}  # line 2 is not seen to run, though its function is
    of_loops = b"from simtmm.native import inlined\n" + source
    found = {each.line: selected(each, of_loops, Ran(), Uses(tmp_path)) for each in faults_of("simtmm/m.py", of_loops)}
    assert found[4] == [test]  # what a loop of machine code runs is not all seen


def test_a_class_s_constant_is_looked_at_by_the_users_of_its_own_name_or_by_the_tests_that_name_it(tmp_path):
    (tmp_path / "simtmm").mkdir()
    source = b"class Kind:\n    FIRST = 1\n    OTHER = 2\n\ndef f():\n    return Kind.FIRST\n"
    (tmp_path / "simtmm" / "m.py").write_bytes(source)
    test = RecordedTest("t.py::test", 0.1, 1)
    ran = Known()
    ran.by, ran.named = {6: [test]}, {"OTHER", "Kind"}
    found = {
        each.line: [one.name for one in selected(each, source, ran, Uses(tmp_path))]
        for each in faults_of("simtmm/m.py", source)
    }
    assert found[2] == ["t.py::test"]
    assert found[3] == [f"{OF_TESTS}::test_Kind"]


def test_quick_tests_that_run_little_come_first_and_as_many_as_there_is_time_for():
    tests = [
        RecordedTest("b.py::x", 5, 100),
        RecordedTest("a.py::y", 1, 5000),
        RecordedTest("a.py::z", 1, 100),
        RecordedTest("c.py::long", 60, 10),
    ]
    assert [test.name for test in ordered(tests, 7)] == ["a.py::z", "a.py::y", "b.py::x"]
    assert ordered(tests[3:], 7) == tests[3:]  # one at least


@pytest.mark.parametrize(
    ("file", "before", "after", "first"),
    [
        ("simtmm/room/m.py", "return x - LIMIT", "return x + LIMIT", "tests/room/test_m.py::x"),  # has the same name
        ("simtmm/room/n.py", "return x - LIMIT", "return x + LIMIT", "tests/room/test_m.py::x"),  # is in that room
        ("simtmm/n.py", "n = [alpha, beta]", "n = [beta]", "tests/test_b.py::x[alpha]"),  # has the word that is gone
    ],
)
def test_tests_that_are_near_a_fault_come_first(tmp_path, file, before, after, first):
    tests = [RecordedTest(name, 1, 100) for name in ("tests/test_b.py::x[alpha]", "tests/room/test_m.py::x")]
    for test in tests:
        (tmp_path / test.file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / test.file).touch()
    source = f"def f(x):\n    {before}\n".encode()
    (fault,) = [each for each in faults_of(file, source) if each.lines(source) == (before, after)]
    tests.append(RecordedTest("tests/test_a.py::x", 0.6, 100))
    (tmp_path / "tests" / "test_a.py").touch()
    assert ordered(tests, 100, Nearness(fault, source, tmp_path))[0].name == first


def test_faults_are_planted_again_from_the_diffs_of_a_run(tree):
    source = (tree / FILE).read_bytes()
    faults = faults_of(FILE, source)
    text = "\n".join(f"# why\n{difference(each, source)}" for each in faults)
    again, gone = written(tree, text)
    assert [each.planted(source) for each in again] == [each.planted(source) for each in faults]
    assert gone == []
    with planted(tree / FILE, b"# moved\n\n" + source):
        assert len(written(tree, text)[0]) == len(faults)
    with planted(tree / FILE, source.replace(b"LIMIT = 3", b"LIMIT = 7")):
        found, gone = written(tree, text)
    assert len(found) + len(gone) == len(faults)
    assert f"{FILE}:1" in gone


def test_two_runs_at_once_have_copies_of_their_own(tmp_path):
    with own_places(tmp_path, 2) as one, own_places(tmp_path, 1) as other:
        assert (one, other) == (["0", "1"], ["2"])
    with own_places(tmp_path, 1) as again:
        assert again == ["0"]


def test_a_copy_follows_its_source_and_keeps_times(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "folder").mkdir(parents=True)
    (source / "__pycache__").mkdir()
    (source / "folder" / "one").write_text("1")
    (source / "two").write_text("2")
    synced(source, copy)
    (source / "two").unlink()
    (source / "folder" / "one").write_text("11")
    synced(source, copy)
    assert sorted(path.name for path in copy.rglob("*")) == ["folder", "one"]
    one = copy / "folder" / "one"
    assert (one.read_text(), one.stat().st_mtime_ns) == ("11", (source / "folder" / "one").stat().st_mtime_ns)
    with planted(one, b"12"):
        assert one.read_text() == "12"
    assert (one.read_text(), one.stat().st_mtime_ns) == ("11", (source / "folder" / "one").stat().st_mtime_ns)


def test_what_a_run_replaces_in_its_cache_folder_stays_in_the_user_s(tmp_path):
    cache = tmp_path / "cache"
    (cache / "studies").mkdir(parents=True)
    (cache / "mutation").mkdir()
    for name in ("kept.o", "studies/s.sqlite"):
        (cache / name).write_text("right")
    scratch = linked(cache, tmp_path / "scratch")
    assert not (scratch / "mutation").exists()
    (scratch / "studies" / "s.sqlite").write_text("wrong")
    (scratch / "new.o").write_text("wrong")
    (scratch / "kept.o").unlink()
    assert [(cache / name).read_text() for name in ("kept.o", "studies/s.sqlite")] == ["right", "right"]
    assert not (cache / "new.o").exists()


def test_each_run_finds_the_cache_folder_as_the_first_one_did(tmp_path):
    cache = tmp_path / "cache"
    (cache / "deep" / "er").mkdir(parents=True)
    for name in ("replaced.o", "removed.o", "same.o", "s.sqlite", "deep/er/gone.o"):
        (cache / name).write_text("right")
    lent = LentCache(cache, tmp_path / "scratch")
    first = {path.relative_to(lent.folder): path.is_dir() for path in lent.folder.rglob("*")}
    for _ in range(2):
        there = lent.restored()
        assert {path.relative_to(there): path.is_dir() for path in there.rglob("*")} == first
        assert {path.read_text() for path in there.rglob("*") if path.is_file()} == {"right"}
        (there / "new").mkdir()
        for name in ("new.o", "deep/new.o", "new/new.o"):
            (there / name).write_text("wrong")
        (there / "removed.o").unlink()
        (there / "other").write_text("wrong")
        (there / "other").replace(there / "replaced.o")
        (there / "s.sqlite").write_text("wrong")
        shutil.rmtree(there / "deep" / "er")
    assert {path.read_text() for path in cache.rglob("*") if path.is_file()} == {"right"}
    (cache / "removed.o").unlink()  # by another process
    assert not (lent.restored() / "removed.o").exists()


def test_the_test_of_types_comes_first_and_runs_in_the_copy(tree, tmp_path):
    (tree / "pyproject.toml").write_text('[tool.mypy]\nstrict = true\npackages = ["simtmm"]\n')
    (tmp_path / "cache").mkdir()
    source = (tree / FILE).read_bytes()
    try:
        (tree / FILE).write_text("def above(x: int) -> int:\n    if x > 3:\n        return x\n    return x - 3\n")
        typed = (tree / FILE).read_bytes()
        with Runner(tree, tmp_path / "cache", tmp_path / "scratch") as runner:
            wrong, right = (
                next(each for each in faults_of(FILE, typed) if each.lines(typed)[1] == after)
                for after in ("return None", "return x + 3")
            )
            verdict = judged(wrong, typed, Known(), Uses(tree), runner, 4.0)
            assert verdict.what == "caught"
            assert verdict.by.startswith("tests/test_house.py::test_types_are_right: simtmm/")
            assert report.summary([verdict]).count("; 100.0 % noticed, 1 of them by the test of types; 0 minutes") == 1
            assert judged(right, typed, Known(), Uses(tree), runner, 4.0).by.startswith("no recorded test")
    finally:
        (tree / FILE).write_bytes(source)
        (tree / "pyproject.toml").unlink()


def test_the_nearest_tests_run_first_and_the_others_if_they_notice_nothing(tree, monkeypatch):
    source, asked = (tree / FILE).read_bytes(), []
    many = Known()
    many.by = {6: [RecordedTest(f"{OF_TESTS}::test_above[{number}]", 0.1, 9) for number in range(40)]}

    class Stub:
        def __init__(self, *statuses):
            self.tree, self.statuses = tree, list(statuses)

        def types(self):
            return ""

        def wrong(self, file, content):
            return ""

        def run(self, tests, seconds, as_python=False, left_out=()):
            asked.append(len(tests))
            return Outcome(self.statuses.pop(0), 1.0, f"FAILED {tests[0]} - assert 1 == 2\n")

        def passes(self, test, seconds):
            return True

    of = fault(tree, "return x - LIMIT", "return x + LIMIT")
    assert judged(of, source, many, Uses(tree), Stub(1), 100.0).what == "caught"
    assert judged(of, source, many, Uses(tree), Stub(0, 1), 100.0).what == "caught"
    assert judged(of, source, many, Uses(tree), Stub(0, 0), 100.0).what == "survived"
    assert asked == [25, 25, 15, 25, 15]


@pytest.mark.parametrize(("statuses", "what"), [((1, 0), "caught"), ((1, 1, 0, 0), "survived"), ((0, 1, 0), "caught")])
def test_loops_run_as_python_first_and_what_fails_so_without_the_fault_too_says_nothing(tree, statuses, what):
    asked, left = [], list(statuses)

    class Stub:
        def __init__(self):
            self.tree = tree

        def types(self):
            return ""

        def wrong(self, file, content):
            return ""

        def run(self, tests, seconds, as_python=False, left_out=()):
            asked.append(as_python)
            assert as_python == (seconds < COMPILED)  # to compile a loop takes time, which tells nothing of a fault
            return Outcome(left.pop(0), 1.0, f"FAILED {tests[0]} - assert 1 == 2\n")

        def passes(self, test, seconds, as_python=False):
            asked.append(as_python)
            return not left.pop(0)

    source = b"from simtmm.native import inlined\n" + (tree / FILE).read_bytes()
    (of,) = [each for each in faults_of(FILE, source) if each.lines(source)[1] == "return x + LIMIT"]
    known = Known()
    known.by = {of.line: known.by[6]}
    verdict = judged(of, source, known, Uses(tree), Stub(), 4.0)
    assert verdict.what == what
    as_python = statuses.index(0) + 1  # runs and looks at what fails, until nothing does
    assert asked == [True] * as_python + [False] * (len(statuses) - as_python)
    assert verdict.by.endswith("as Python") == (statuses == (1, 0))
    assert verdict.seconds == len(statuses) - 1  # but what is looked at without the fault, once for all


def test_what_goes_from_a_cache_while_it_is_read_is_left_out(tmp_path, monkeypatch):
    """As files that another process writes under another name first."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("a.part", "b.o"):
        (cache / name).write_text("right")
    link = os.link

    def late(source, target):
        (cache / "a.part").unlink(missing_ok=True)
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert [path.name for path in linked(cache, tmp_path / "scratch").iterdir()] == ["b.o"]


def test_what_a_run_prints_does_not_say_where_the_copy_is(tree, runner):
    file = "tests/test_said.py"
    (tree / file).write_text("def test_where():\n    raise ValueError(f'in {__file__}')\n")
    printed = runner.run([file], 60.0).printed
    (tree / file).unlink()
    assert f"in {file}" in printed
    assert str(tree) not in printed


def test_that_coverage_is_lacking_is_said_in_a_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "coverage", None)  # as where it isn't installed
    monkeypatch.setattr(sys, "argv", ["tests.mutation"])
    with pytest.raises(SystemExit, match="pip install coverage"):
        main()


def test_a_run_that_has_had_its_minutes_plants_no_more(tmp_path):
    clock = iter([0.0, 30.0, 59.0, 61.0, 90.0])
    assert list(within(1.0, ["a", "b", "c", "d"], lambda: next(clock))) == ["a", "b"]
    assert list(within(None, ["a", "b"])) == ["a", "b"]


DRAW = {"seed": 7, "count": 9}


def planted_so_far(path, tree, judge=0, draw=DRAW, known=MappingProxyType({})):
    """Continue a log, or begin one of all faults, with verdicts of so many: what was left, gone, and judged."""
    everything = faults_of(FILE, (tree / FILE).read_bytes())
    with continued(path, draw, lambda: everything, tree) as log:
        left, gone = log.left()
        for one in left[:judge]:
            log.add(Verdict(one, "survived", 3, 1.5, "nobody", "--- a\n"))
        return left, gone, log.verdicts(known)


def test_a_run_continues_where_another_stopped(tree, tmp_path):
    path = tmp_path / "some" / "log.jsonl"
    everything, gone, verdicts = planted_so_far(path, tree, judge=2)
    assert everything == faults_of(FILE, (tree / FILE).read_bytes())
    assert (gone, [each.fault for each in verdicts]) == ([], everything[:2])
    with path.open("a") as file:
        file.write('{"number": 2, "fau')  # a run that was killed
    left, _, again = planted_so_far(path, tree, judge=1)
    assert (left, again[:2], len(again)) == (everything[2:], verdicts, 3)
    assert planted_so_far(path, tree)[0] == everything[3:]


def test_a_log_s_faults_are_planted_in_a_source_that_has_changed_but_for_those_whose_lines_are_gone(tree, tmp_path):
    path = tmp_path / "log.jsonl"
    source = (tree / FILE).read_bytes()
    before, _, _ = planted_so_far(path, tree)
    changed = b"# more\n" + source.replace(b"return x - LIMIT", b"return x - 3")
    with planted(tree / FILE, changed):
        left, gone, _ = planted_so_far(path, tree)
    there = [each for each in before if "x - LIMIT" not in each.lines(source)[0]]
    assert [each.lines(changed) for each in left] == [each.lines(source) for each in there]
    assert [each.line for each in left] == [each.line + 1 for each in there]
    assert gone == [f"{FILE}:6"] * (len(before) - len(there))


def test_a_survivor_that_was_listed_since_is_an_equivalent(tree, tmp_path):
    path = tmp_path / "log.jsonl"
    left, _, _ = planted_so_far(path, tree, judge=2)
    known = {name_of(left[0], (tree / FILE).read_bytes()): "nobody sees it"}
    _, _, verdicts = planted_so_far(path, tree, known=known)
    assert [(each.what, each.by) for each in verdicts] == [("equivalent", "nobody sees it"), ("survived", "nobody")]


@pytest.mark.parametrize(
    ("text", "draw", "said"),
    [
        ("", {**DRAW, "seed": 8}, "is of --seed 7, not 8"),
        ("a text without an end", DRAW, "no log of verdicts"),
        ("[1]\nmore", DRAW, "no log of verdicts"),
    ],
)
def test_what_is_no_log_of_this_draw_is_refused_and_left_as_it_is(tree, tmp_path, text, draw, said):
    path = tmp_path / "log.jsonl"
    if text:
        path.write_text(text)
    else:
        planted_so_far(path, tree, judge=1)
    before = path.read_bytes()
    with pytest.raises(SystemExit, match=said):
        planted_so_far(path, tree, draw=draw)
    assert path.read_bytes() == before


def test_one_run_at_a_time_continues_a_log(tree, tmp_path):
    path = tmp_path / "log.jsonl"
    with continued(path, DRAW, list, tree), pytest.raises(SystemExit, match="another run continues it"):
        planted_so_far(path, tree)


def test_the_report_counts_and_is_content_with_nine_in_ten(tmp_path):
    def verdicts(**counts):
        one = Fault("simtmm/trace/a.py", 0, 1, "", 1, 1, "", "operator")
        return [
            Verdict(one, what.replace("_", " "), 1, 60.0, difference=what)
            for what, n in counts.items()
            for _ in range(n)
        ]

    found = verdicts(caught=16, timed_out=2, survived=1, equivalent=1)
    assert report.summary(found) == (
        "20 faults: 16 caught, 1 survived, 2 timed out, 1 equivalent; 94.7 % noticed, "
        "0 of them by the test of types; 20 minutes of the processor"
    )
    assert report.by_part(found) == "by kind: operator 18/19\nby room: trace 18/19"
    assert report.is_enough(found)
    assert not report.is_enough(verdicts(caught=8, survived=1))
    assert not report.is_enough(verdicts(caught=18, equivalent=2))  # more than one in twenty
    report.written(found, tmp_path)
    assert (tmp_path / "survivors.diff").read_text().count("survived") == 1
