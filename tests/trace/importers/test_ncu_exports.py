"""Exports of Nsight Compute from an H100 say what the table of counters says, and simtmm counts the same."""

import csv
import json
import sys
from pathlib import Path

import pytest

from simtmm.__main__ import main

HERE = Path(__file__).parent / "ncu"
TABLE = Path(__file__).parents[3] / "traces" / "measured" / "h100_sxm_counters.csv"
KERNELS = {"1": ("saxpy", ""), "3": ("strided", "stride=8"), "8": ("transpose_tile<0>", "n=1024"),
           "10": ("sum_divergent", "")}  # fmt: skip
COUNTERS = {
    "warp_instructions": "smsp__inst_executed.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
}


def table():
    with TABLE.open(newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(row["kernel"], row["parameters"]): row for row in rows}


def test_the_raw_page_has_units_and_what_the_table_has():
    with (HERE / "raw.csv").open(newline="") as file:
        units, *rows = csv.DictReader(file)
    assert units["gpu__time_duration.sum"] == "us"
    assert [row["ID"] for row in rows] == list(KERNELS)
    for row in rows:
        wanted = table()[KERNELS[row["ID"]]]
        for name, metric in COUNTERS.items():
            assert float(row[metric].replace(",", "")) == float(wanted[name])
        assert float(row["gpu__time_duration.sum"]) * 1e-6 == pytest.approx(float(wanted["seconds"]))


def test_the_details_page_has_metrics_of_each_and_rules_of_one():
    with (HERE / "details.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["ID"] for row in rows if row["Metric Name"] == "Duration"} == set(KERNELS)
    assert {row["ID"] for row in rows if row["Rule Name"]} == {"10"}


@pytest.mark.parametrize(("pad", "kernel"), [(0, "transpose_tile<0>"), (1, "transpose_tile<1>")])
def test_accesses_and_conflicts_are_counted_as_on_the_gpu(pad, kernel, tmp_path, monkeypatch, capfd):
    path = tmp_path / "tile.cu"
    source = (HERE / "profiled.cu").read_text()
    body = source[source.index("template <int PAD>") : source.index("__global__ void saxpy")]
    path.write_text(body.replace("template <int PAD>", f'#define PAD {pad}\nextern "C"'))
    words = "--grid 32x32 --block 32x8 --arg in=zeros:float32:1048576 --arg out=zeros:float32:1048576 --arg n=1024"
    monkeypatch.setattr(
        sys, "argv", ["simtmm", "run", str(path), *words.split(), "--machine", "h100-sxm", "--start", "cold", "--json"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    output = capfd.readouterr()
    assert not ended.value.code, output.err
    found, wanted = json.loads(output.out)["stalls"]["launches"][0], table()[kernel, "n=1024"]
    assert found["requests"] == int(wanted["load_requests"]) + int(wanted["store_requests"])
    assert found["chunks"] == int(wanted["l1_tag_requests"])
    assert found["conflicts"] == int(wanted["shared_conflicts"])
    assert found["memory_bytes"] == pytest.approx(int(wanted["dram_bytes_read"]), rel=0.01)
    # A barrier of each warp is no instruction here (docs/counters.md).
    warps = 32 * 32 * 8
    assert found["instructions"] == int(wanted["warp_instructions"]) - warps
