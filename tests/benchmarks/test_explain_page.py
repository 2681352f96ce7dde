"""A run of ten million operations explained: how large its page is, and how soon a browser shows it."""

import time
import tracemalloc

import numpy as np
import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.analysis.run import run
from simtmm.cli.commands.run import LONG
from simtmm.report.explain_page import write_explanation
from simtmm.stalls import LAUNCH_COUNTS, THREADS, Place, Places
from simtmm.workload import COMPUTE, LOAD
from tests.report.browser import CHROMIUM, Browser

PER_WARP, LINES, ARRAYS = 250, 5_000, 8
MOST_BYTES, MOST_SECONDS = 5_000_000, 2.0


def placed(operations):
    """Warps that compute and load by turns, each operation on one of many lines, in blocks of 4 warps."""
    warps = operations // PER_WARP // 4 * 4
    count = warps * PER_WARP
    rng = np.random.default_rng(0)
    kind = np.tile(np.array([COMPUTE, LOAD], np.uint8), count // 2)
    sites = tuple(
        Place(
            "load" if number % 2 else "work",
            "k.cu",
            1 + number,
            f"x[{number}] += y[i + {number}];",
            "k",
            f"LDG R{number}",
        )
        for number in range(LINES)
    )
    numbers = 2 * rng.integers(0, LINES // 2, count) + np.arange(count) % 2
    place = numbers * ARRAYS + np.where(kind == LOAD, rng.integers(1, ARRAYS, count), 0)
    loads = np.arange(warps + 1) * (PER_WARP // 2)
    names = ("", *(f"array{number}" for number in range(1, ARRAYS)))
    return Workload(
        kind=kind,
        amount=np.ones(count, np.int64),
        chunks=rng.integers(0, 1 << 20, count // 2),
        warp_operations=np.arange(warps + 1) * PER_WARP,
        warp_chunks=loads,
        block_warps=np.arange(0, warps + 1, 4),
        launch_blocks=np.array([0, warps // 4]),
        launch_limits=np.zeros(1, np.int64),
        place=place.astype(np.int32),
        places=Places(sites, names, np.ones((LINES * ARRAYS, len(THREADS)), np.int64)),
    )


def test_stalls_of_ten_million_operations_take_memory_by_places_alone(benchmark, sized):
    on, workload = load_machine("h100-sxm"), placed(sized(10**7, 10**4))
    simulate(on, workload, stalls=True)  # compiled
    tracemalloc.start()
    plain = _peak(lambda: simulate(on, workload, threads=1))
    booked = _peak(lambda: simulate(on, workload, stalls=True, threads=1))
    tracemalloc.stop()
    result = benchmark.pedantic(simulate, (on, workload), {"stalls": True, "threads": 1}, rounds=1)
    assert sum(result.stalls.counts[:, 0]) == result.issued == workload.operations
    assert len(result.stalls.launch_counts[0]) == len(LAUNCH_COUNTS)
    rows = (LINES * ARRAYS + 1) * 64 * 8  # a place has a row of some tens of numbers, which is copied once or twice
    assert booked - plain < 8 * rows
    benchmark.extra_info["MiB beside a run without"] = round((booked - plain) / 2**20)
    if benchmark.enabled:
        benchmark.extra_info["operations a second"] = round(workload.operations / benchmark.stats.stats.median)


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_of_ten_million_operations_is_small_and_soon_there(benchmark, sized, tmp_path):
    on, workload = load_machine("h100-sxm"), placed(sized(10**7, 10**4))
    done = run(workload, on, timeline=True, timeline_limit=LONG, what_if=False)
    path = tmp_path / "page.html"
    benchmark.pedantic(write_explanation, (path, done), rounds=1)
    assert path.stat().st_size < MOST_BYTES
    browser = Browser(tmp_path / "profile")
    try:
        browser.open(path)  # started and warm
        begin = time.perf_counter()
        browser.open(path)
        taken = time.perf_counter() - begin
        assert browser.run("document.querySelectorAll('button.line').length") > 0
        assert browser.errors == []
    finally:
        browser.close()
    benchmark.extra_info["bytes"] = path.stat().st_size
    benchmark.extra_info["seconds to show"] = round(taken, 2)
    if benchmark.enabled:
        assert taken < MOST_SECONDS


def _peak(call):
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    call()
    return tracemalloc.get_traced_memory()[1] - before
