"""Atomics whose values nobody uses: what says so, and what they are lowered to (docs/machine.md, section 9)."""

import dataclasses

import pytest

from simtmm.recorder.sites import number_sites
from simtmm.trace.digest import TraceDigest
from simtmm.trace.importers.opcodes import gives_nothing
from simtmm.trace.schema import TraceSite
from simtmm.trace.specification import LoweringSpecification
from tests.trace.build import load, work
from tests.trace.test_compiled import lowered
from tests.trace.test_lower import machine

POSTED = {"memory.reductions": "posted"}
UNUSED = TraceSite(1, "atomic", "k.cu", 1, "", unused=True)
USED = TraceSite(2, "atomic", "k.cu", 2, "")


def update(site, address):
    return site, "atomic", address, 4


# Lowering


def test_an_atomic_whose_value_nobody_uses_is_lowered_to_a_reduce():
    thread = [load(0, 0), update(1, 64), update(2, 64), work(3, 2)]
    sites = [UNUSED, USED]
    (both,) = lowered([thread, thread], sites, **POSTED)
    assert both == [["load", [0]], ["reduce", [2, 2]], ["atomic", [2, 2]], ["compute", 2]]
    (blocking,) = lowered([thread, thread], sites)
    assert [operation[0] for operation in blocking] == ["load", "atomic", "atomic", "compute"]


def test_a_reduce_lists_what_an_atomic_does():
    threads = [[update(1, address)] for address in (0, 4, 4, 32)]
    assert lowered(threads, [UNUSED], **POSTED) == [[["reduce", [0, 0, 0, 1]]]]
    assert lowered(threads, [UNUSED], **POSTED, **{"memory.atomics": "by-word"}) == [[["reduce", [0, 0, 1]]]]


def test_a_site_that_says_so_and_was_never_reached_changes_nothing():
    beyond = TraceSite(900, "atomic", "k.cu", 1, "", unused=True)
    assert lowered([[update(1, 0), work(2, 3)]], [USED, beyond], **POSTED) == [[["atomic", [0]], ["compute", 3]]]


def test_what_lowering_reads_has_its_digest_only_where_it_is_on():
    assert LoweringSpecification.of(machine()).digest == LoweringSpecification.of(machine(width=4)).digest
    assert LoweringSpecification.of(machine(**POSTED)).digest != LoweringSpecification.of(machine()).digest
    assert dataclasses.replace(LoweringSpecification.of(machine(**POSTED)), reduces=False) == (
        LoweringSpecification.of(machine())
    )


# What says so


def test_a_site_is_written_with_it_only_where_it_is_so():
    assert UNUSED.to_dict()["unused"] is True
    assert TraceSite.from_dict(UNUSED.to_dict()) == UNUSED
    assert "unused" not in USED.to_dict()
    with pytest.raises(ValueError, match=r"unused = 1: must be true or false"):
        dataclasses.replace(USED, unused=1)


def test_a_trace_has_another_digest_only_where_it_is_so():
    def digest(**changes):
        return TraceDigest().finish([], [], [dataclasses.replace(USED, **changes)])

    assert digest() == TraceDigest().finish([], [], [])
    assert len({digest(), digest(unused=True), digest(stall=1), digest(stall=1, unused=True)}) == 4


@pytest.mark.parametrize(("opcode", "nothing"), [("RED.E.ADD", True), ("REDG.E.ADD", True), ("REDUX", False),
                                                 ("ATOMG.E.ADD", False)])  # fmt: skip
def test_opcodes_of_reductions_give_nothing(opcode, nothing):
    assert gives_nothing(opcode) is nothing


@pytest.mark.parametrize(
    "source",
    [
        "{ ATOMIC_ADD(a, 0, 1); }",
        "x = 1; ATOMIC_ADD(a, f(0), 1) ;",
        "ST(a, 0, 1); // then\n  /* (1 */ ATOMIC_ADD(a,\n 0, 1);",
        "if (i < (n)) ATOMIC_ADD(a, 0, 1); else ATOMIC_MAX(a, 0, 1);",
        "for (;;) while (x) ATOMIC_ADD(a, 0, 1);",
        "{ (void) ATOMIC_ADD(a, 0, 1); }",
        '{\n#line 7 "k.cu"\nATOMIC_ADD(a, 0, 1);\n#pragma unroll\nATOMIC_ADD(a, 0, 1); }',
        "#define COUNT(i) { ATOMIC_ADD(a, i, 1); }",
        "#define COUNT(i) do { \\\n ATOMIC_ADD(a, i, 1); \\\n} while (0)",
    ],
)
def test_an_atomic_that_is_a_statement_of_its_own_gives_nobody_anything(source):
    sites = [site for site in number_sites(source)[1] if site.kind == "atomic"]
    assert sites
    assert all(site.unused for site in sites)


@pytest.mark.parametrize(
    "source",
    [
        "{ x = ATOMIC_ADD(a, 0, 1); }",
        "{ return ATOMIC_ADD(a, 0, 1); }",
        "{ if (ATOMIC_ADD(a, 0, 1) == 3) ; }",
        "{ ATOMIC_ADD(a, 0, 1) + 1; }",
        "{ f(ATOMIC_ADD(a, 0, 1)); }",
        "{ x = (int) ATOMIC_ADD(a, 0, 1); }",
        "for (;; ATOMIC_ADD(a, 0, 1)) ;",
        "while (ATOMIC_CAS(a, 0, 0, 1)) ;",
        "x = ({ ATOMIC_ADD(a, 0, 1); });",
        "#define COUNT(i) ATOMIC_ADD(a, i, 1)",
        "#define COUNT(i) ATOMIC_ADD(a, i, 1);",  # who uses the macro may use the value
        "ATOMIC_ADD(a, 0, 1);",  # nothing before: what this is part of is not known
        "{ ATOMIC_ADD(a, 0",
        "{ ST(a, 0, 1); }",
    ],
)
def test_any_other_may_be_used(source):
    assert not any(site.unused for site in number_sites(source)[1])
