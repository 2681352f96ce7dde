"""Drawn kernels leave the same as PTX, as machine code of each architecture, and as C++ on the host."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from random import SystemRandom

import pytest
from hypothesis import settings

from simtmm.cuda import function
from simtmm.cuda.execution import instructions
from simtmm.cuda.execution.translation.kept_code import machine_code
from simtmm.cuda.sass import families
from tests.cuda.whole.compared import DIFFERENT, EQUAL, INVALID, PTX, REFUSED, Outcome, outcomes
from tests.cuda.whole.device import ARCHITECTURES
from tests.cuda.whole.host import HostError, run_on_host
from tests.cuda.whole.kernels import Kernel, draw, load
from tests.cuda.whole.reduced import reduced, same
from tests.cuda.whole.tree import Node
from tests.examples import DAILY

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")

KEPT = sorted((Path(__file__).parent / "examples").glob("*.cu"))  # what went wrong once
A_DAY = 14  # kernels
LONG = 1000


@pytest.fixture(autouse=True)
def _compiled_for_speed(monkeypatch):
    monkeypatch.setattr(function, "code_that_pays", machine_code)


def _seeds(place: int) -> list[int]:
    """Those of one architecture: the same each day; drawn anew by the long profile."""
    if settings().max_examples <= DAILY:
        return list(range(place, A_DAY, len(ARCHITECTURES)))
    return [SystemRandom().getrandbits(32) for _ in range(place, LONG, len(ARCHITECTURES))]


def _wrong(found: list[Outcome]) -> str:
    return "\n".join(f"{each}\n{each.kernel.text}" for each in found if each.is_wrong)


@pytest.mark.parametrize("place", range(len(ARCHITECTURES)), ids=[f"sm_{each}" for each in ARCHITECTURES])
def test_drawn_kernels_leave_the_same_every_way(place):
    seeds = _seeds(place)
    for at in range(0, len(seeds), 5):
        found = outcomes([draw(seed) for seed in seeds[at : at + 5]], [ARCHITECTURES[place]])
        assert not _wrong(found), _wrong(found)


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_what_went_wrong_once_is_right(path):
    found = outcomes([load(path)], [75, 90])
    assert not _wrong(found), _wrong(found)


def _kernel(*lines: str, shown: tuple[str, ...] = ("(u64)bits_of(a)",), threads: int = 32) -> Kernel:
    return Kernel(1, (), tuple(map(Node, lines)), shown, 1, threads)


def _plant(monkeypatch, opcode: str, instead: str) -> None:
    """Have an instruction do what another does."""
    handler = instructions.HANDLERS[instead]
    wrong = lambda context, instruction: handler(context, replace(instruction, opcode=instead))  # noqa: E731
    monkeypatch.setitem(instructions.HANDLERS, opcode, wrong)


def test_a_wrong_instruction_is_noticed_and_the_kernel_made_small(monkeypatch):
    _plant(monkeypatch, "xor", "or")
    kernel = _kernel("u32 b = tid * 3;", "u32 c = size + 1;", "u32 a = (b ^ c) + b;", "if (a > 5) c += 2;", "NOTE(c)")
    (found,) = outcomes([kernel], [90], [PTX])
    assert found.ended == DIFFERENT
    small = reduced(kernel, same(found), 100.0)
    assert [node.head for node in small.inside] == ["u32 b = tid * 3;", "u32 c = size + 1;", "u32 a = (b ^ c) + b;"]
    monkeypatch.undo()
    assert [each.ended for each in outcomes([small], [90], [PTX])] == [EQUAL]


def test_drawn_kernels_notice_a_wrong_instruction(monkeypatch):
    _plant(monkeypatch, "shr", "shl")
    found = outcomes([draw(seed) for seed in range(4)], [90], [PTX])
    assert DIFFERENT in [each.ended for each in found]


def test_a_wrong_instruction_of_machine_code_is_noticed(monkeypatch):
    kernel = _kernel("u32 b = tid * 3;", "u32 a = __popc(b ^ 5);")
    monkeypatch.setitem(families.HANDLERS, "POPC", lambda lifting, instruction: None)
    found = outcomes([kernel], [90])
    assert [each.ended for each in found] == [EQUAL, DIFFERENT]


def test_what_is_no_kernel_is_told():
    (found,) = outcomes([_kernel("u32 a = nobody;")], [90])
    assert found.ended == INVALID
    assert "nobody" in found.why


def test_threads_that_wait_for_each_other_on_the_host_are_told():
    kernel = _kernel("u32 a = tid;", "if (tid == 3) __syncwarp(mask);")
    with pytest.raises(HostError, match="wait for each other"):
        run_on_host([kernel])


def test_what_cpp_does_not_define_is_told():
    kernel = _kernel("i32 a = 0x7fffffff;", "a += (i32)tid;")
    run_on_host([kernel])
    with pytest.raises(HostError, match="overflow"):
        run_on_host([kernel], checked=True)


def test_a_kernel_is_the_same_each_time_it_is_drawn():
    assert draw(7).text == draw(7).text
    assert draw(7).text != draw(8).text


def test_a_kernel_is_kept_and_read(tmp_path):
    kernel = draw(5)
    kernel.save(tmp_path / "k.cu", "what it is about")
    again = load(tmp_path / "k.cu")
    assert (again.name, again.blocks, again.threads) == (kernel.name, kernel.blocks, kernel.threads)
    assert again.options == kernel.options != ()
    assert kernel.text in again.text


def test_the_causes_of_other_kernels_are_told_together():
    causes = {
        Outcome(draw(seed), PTX, 90, REFUSED, f"`CALL R{seed} `(k{seed})` is not supported").cause for seed in (1, 2)
    }
    assert causes == {"`CALL _ `(_)` is not supported"}


def test_no_thread_leaves_a_function_of_a_warp_before_the_others():
    texts = [draw(seed).text for seed in (7001372, 7001404, *range(300))]
    bodies = [found[0] for text in texts for found in re.finditer(r"\bw_\d+\(u32 mask.*?\n}", text, re.DOTALL)]
    assert len(bodies) > 20
    assert not [body for body in bodies if body.count("return ") > 1]


def test_a_bit_field_is_shifted_as_the_type_that_it_has():
    """Of few bits, it is promoted to 32, and a shift by more is not defined."""
    texts = [draw(seed).text for seed in (7001974, *range(200))]
    assert not [text for text in texts if re.search(r"\(b_\d+\.m\d >> \d", text)]
    run_on_host([draw(7001974)], checked=True)
