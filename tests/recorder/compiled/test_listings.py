"""The code that a trace of compiled kernels keeps: which PTX and SASS a line became, and how often each ran."""

import re
from dataclasses import replace

import numpy as np
import pytest

import simtmm
from simtmm.analysis.run import run
from simtmm.recorder.compiled import listings
from simtmm.report.explain.code import coded
from simtmm.trace.info import TraceInfo
from simtmm.trace.schedule import NO_SITE, Listing

SOURCE = """
__device__ __noinline__ float twice(float x)
{
    return x * 2.5f + x * x;
}
extern "C" __global__ void f(int n, const float* a, float* b, float* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 4 == 0) b[i] = twice(a[i]);
    for (int k = 0; k < n; ++k) atomicAdd(&c[k], 1.0f);
}
"""
BRANCH = 1 + next(number for number, line in enumerate(SOURCE.splitlines()) if "twice(a[i])" in line)


@pytest.fixture(scope="module")
def trace():
    kernel = simtmm.RawKernel(SOURCE, "f")
    with simtmm.recording() as recording:
        kernel((2,), (64,), (3, np.ones(128, np.float32), np.zeros(128, np.float32), np.zeros(3, np.float32)))
    return recording.trace


def of(trace, code):
    (found,) = [listing for listing in trace.info.listings if listing.code == code]
    return found


def test_both_codes_are_kept_with_their_lines(trace):
    for code, load in (("sass", "LDG"), ("ptx", "ld.global")):
        listing = of(trace, code)
        lines = {line for (_, line), text in zip(listing.places, listing.texts, strict=True) if load in text}
        assert lines == {BRANCH}
        assert listing.kernel == "f"
        assert listing.left == 0


def test_sites_of_instructions_are_those_that_recorded_them(trace):
    listing = of(trace, "sass")
    sites = {site.site: site for site in trace.info.sites}
    reported = {text: sites[site] for text, site in zip(listing.texts, listing.sites, strict=True) if site != NO_SITE}
    accesses = [text for text in reported if re.search(r"\b(LDG|STG|REDG?|ATOMG?)\b", text)]
    assert len(accesses) >= 3
    for text in accesses:
        assert reported[text].instruction == text
        assert reported[text].kind in ("async", "store", "atomic")
    assert set(of(trace, "ptx").sites) == {NO_SITE}  # its machine code was run


def test_what_a_called_function_became_is_there(trace):
    assert any(line == 4 for _, line in of(trace, "ptx").places)  # its product


@pytest.mark.parametrize("form", ["compiled", "ptx"])
def test_how_often_warps_did_an_instruction(form):
    """Of histogram 30 blocks of 4 warps; each of its two barriers once by each warp."""
    code = {"compiled": "sass", "ptx": "ptx"}[form]
    done = run("histogram", "h100-sxm", form=form, what_if=False)
    found = [each for of_line in coded(done, code).values() for each in of_line]
    barriers = [each.times for each in found if re.match(r"BAR\.SYNC|bar\.sync", each.text)]
    assert barriers == [120, 120]
    whole = sum(int(each.ticks.sum()) for each in found if each.ticks is not None)
    stalls = done.result.stalls
    assert whole == int(stalls.ticks[:-1].sum())  # all that is booked to a site stands at one instruction
    assert any(each.times is None for each in found) or form == "compiled"


def test_a_listing_outlives_the_file_and_is_no_part_of_the_digest(trace, tmp_path):
    trace.save(tmp_path / "t.parquet")
    again = simtmm.load_trace(tmp_path / "t.parquet")
    assert again.info.listings == trace.info.listings
    without = replace(trace.info, listings=())
    assert "listings" not in without.to_dict()
    assert TraceInfo.from_dict(without.to_dict()).digest == trace.info.digest


def test_there_is_an_end_to_what_is_kept(trace, monkeypatch):
    rows = [(f"NOP {number}", ("f.cu", 1), NO_SITE) for number in range(10)]
    room = listings.Room(7)
    first, second = room.listing("f", "sass", rows[:4]), room.listing("f", "ptx", rows)
    assert (len(first.texts), first.left) == (4, 0)
    assert (len(second.texts), second.left) == (3, 7)
    assert (room.listing("f", "ptx", rows).texts, room.left) == ((), 0)


@pytest.mark.parametrize(
    "change", [{"code": "x"}, {"sites": [1, 2]}, {"places": [5]}, {"places": [-1]}, {"known": 3}, {"texts": None}]
)
def test_a_damaged_listing_is_refused(change):
    good = Listing("f", "sass", ("NOP",), (("f.cu", 1),), (0,)).to_dict()
    info = simtmm.record("gemm", {"n": 4}).info.to_dict()
    assert TraceInfo.from_dict({**info, "listings": [good]}).listings[0].texts == ("NOP",)
    with pytest.raises((ValueError, TypeError, KeyError)):
        TraceInfo.from_dict({**info, "listings": [{**good, **change}]})
