"""All machines in one table: its numbers, the mark of doubt, its width."""

import io

import pytest
from rich.console import Console

from simtmm.machine import Machine, load_machine, machine_files, new_machine
from simtmm.machine.family import load_family
from simtmm.machine.known import family_files
from simtmm.report.machine_table import (
    DATA_SHEET,
    FROM_RELATIVES,
    MEASURED,
    QUANTITIES,
    basis,
    basis_words,
    certainties,
    certainty,
    compare_machines,
    comparison_document,
)

SHIPPED = {name: load_machine(path) for name, path in machine_files().items()}


def printed(machines, width=120):
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    for part in compare_machines(machines):
        console.print(part)
    return out.getvalue().splitlines()


def machine(**sources):
    return Machine.from_dict(
        {
            "name": "small",
            "clock_hz": 1e9,
            "peak_bandwidth": 2e11,
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 32, "max_threads_per_core": 128},
            "memory": {"latency": 400, "chunk_words": 32, "partitions": 4, "service": 4},
            "sources": {key.replace("__", "."): value for key, value in sources.items()},
        }
    )


def test_the_shipped_machines_fit_120_columns_a_line_each():
    lines = printed(SHIPPED)
    assert [line.split()[0] for line in lines[1 : 1 + len(SHIPPED)]] == list(SHIPPED)
    assert lines[1 + len(SHIPPED)] == ""
    assert max(map(len, lines)) <= 120


def test_a_line_has_the_numbers_of_the_file():
    (line,) = [line for line in printed(SHIPPED) if line.startswith("gtx480 ")]
    # 6 * 128 bytes / 6.07 cycles at 1401 MHz is 177.3 GB/s
    cells = ["gtx480", "-", "15", "32", "32", "48", "1401", "512", "177", "177", "16K", "35?", "768K", "240?"]
    assert line.split()[:-1] == cells


def test_a_machine_without_caches_bandwidth_and_peak_has_dashes():
    (line,) = [line for line in printed(SHIPPED) if line.startswith("ideal ")]
    assert line.split()[8:14] == ["-"] * 6


@pytest.mark.parametrize(
    ("word", "doubted"),
    [
        ("confirmed", False), ("paper", False), ("derived", False), ("definition", False), ("user", False),
        ("secondhand", True), ("config", True), ("unconfirmed", True), ("assumption", True),
    ],
)  # fmt: skip
def test_a_number_that_was_not_read_in_a_source_bears_a_question_mark(word, doubted):
    result = machine(memory__latency={"source": "here", "certainty": word})
    assert ("400?" in printed({"small": result})[1].split()) == doubted


def test_a_value_without_a_source_is_a_default_and_doubted():
    assert certainty(machine(), ("memory.latency",)) == "default"
    assert "400?" in printed({"small": machine()})[1].split()


def test_a_value_that_is_not_there_has_no_certainty():
    assert certainty(machine(), ("memory.l1.latency",)) is None


def test_of_several_keys_the_least_sure_one_counts():
    result = machine(
        memory__latency={"source": "here", "certainty": "assumption"}, clock_hz={"source": "here", "certainty": "paper"}
    )
    assert certainty(result, ("clock_hz", "memory.latency")) == "assumption"
    assert certainty(result, ("clock_hz",)) == "paper"


def test_bandwidth_that_follows_from_the_peak_is_no_surer_than_the_peak():
    derived = {"source": "peak_bandwidth", "certainty": "derived"}
    for word in ("confirmed", "unconfirmed"):
        result = machine(memory__service=derived, peak_bandwidth={"source": "data sheet", "certainty": word})
        assert certainty(result, ("memory.service",)) == ("derived" if word == "confirmed" else word)


def test_values_that_name_one_another_as_their_source_are_as_sure_as_they_say():
    result = machine(
        peak_bandwidth={"source": "clock_hz", "certainty": "paper"},
        clock_hz={"source": "peak_bandwidth", "certainty": "paper"},
    )
    assert certainty(result, ("peak_bandwidth", "clock_hz")) == "paper"


def test_the_last_column_counts_the_values_that_were_read_or_follow():
    result = machine(
        memory__latency={"source": "here", "certainty": "assumption"},
        clock_hz={"source": "here", "certainty": "paper"},
        peak_bandwidth={"source": "here", "certainty": "confirmed"},
    )
    assert printed({"small": result})[1].split()[-1] == "2/3"
    assert certainties(result) == {"confirmed": 1, "paper": 1, "assumption": 1}


def test_the_document_has_every_quantity_with_unit_and_certainty():
    found = comparison_document(SHIPPED)
    assert list(found) == list(SHIPPED)
    for name, entry in found.items():
        assert entry["digest"] == SHIPPED[name].digest()
        assert sum(entry["certainties"].values()) == len(SHIPPED[name].sources)
        for quantity in QUANTITIES:
            assert set(entry[quantity.name]) == {"value", "unit", "meaning", "certainty"}
    a100 = found["a100-80"]
    assert a100["l2_capacity"] == {
        "value": 40 * 2**20, "unit": "bytes", "meaning": "cache of all groups", "certainty": "derived",
    }  # fmt: skip
    assert a100["latency"]["value"] == 552.2
    assert found["ideal"]["bandwidth"]["value"] is None


def test_bandwidth_is_what_partitions_or_ports_let_through():
    document = comparison_document({"small": machine()})["small"]
    assert document["bandwidth"]["value"] == 4 * 128 / 4 * 1e9
    ported = machine().replace({"memory.port_interval": 4})
    assert comparison_document({"small": ported})["small"]["bandwidth"]["value"] == 2 * 128 / 4 * 1e9


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *((name, MEASURED) for name in ("v100", "a100-80", "a40", "gh200", "h100-pcie", "h100-sxm", "mi210", "mi300a")),
        *((name, FROM_RELATIVES) for name in ("a100-40", "h200", "l40", "mi100", "mi300x", "rx6900xt")),
        *((name, DATA_SHEET) for name in ("a10", "b200", "l4", "mi250x", "rtx-2080-ti", "rtx-5090", "t4")),
        *((name, "") for name in ("gtx280", "hd5870", "cray-xmt", "ideal")),
    ],
)
def test_a_machine_says_what_its_values_come_from(name, found):
    machine = load_machine(name)
    assert basis(machine) == found
    assert basis_words(machine).startswith({DATA_SHEET: "data sheet only; unvalidated"}.get(found, found))


def test_every_donor_of_a_family_is_measured():
    for family in family_files(None):
        for donor in load_family(family).donors:
            assert basis(load_machine(donor)) == MEASURED


def test_a_machine_of_a_data_sheet_is_unvalidated_until_something_is_measured_on_it():
    given = {"clock_hz": 2.52e9, "peak_bandwidth": 1008e9, "cores.groups": 128, "memory.l2.size": "72MiB"}
    by_sheet = new_machine("mine", "ada", given)
    assert basis(by_sheet) == DATA_SHEET
    known = new_machine("mine", "ada", {**given, "memory.latency": 600.0})
    assert basis(known) == FROM_RELATIVES
    assert basis_words(known).endswith("values measured on this one: memory.latency")
