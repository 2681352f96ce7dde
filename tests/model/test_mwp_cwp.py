"""MWP-CWP, the model of Hong and Kim (ISCA 2009)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, load_machine
from simtmm.errors import ModelError
from simtmm.machine import Machine, machine_files
from simtmm.model.mwp_cwp import MWP_CWP, MWP_CWP_PRINTED, departure_delays, mwp_cwp, parallelism
from simtmm.trace.counts import Counts, LaunchCounts
from tests.trace.build import barrier, load, trace, work

# The paper's worked example, 80 blocks of 128 threads on an FX5600 of 1 GHz, 80 GB/s and 16 groups: quoted without the
# paper at hand, but its numbers follow from one another, so that a wrong one would show.
EXAMPLE = {
    "N": 20, "Total_insts": 27 + 6, "Mem_insts": 6, "Weight_uncoal": 1, "Uncoal_per_mw": 32, "Load_bytes_per_warp": 128,
    "Synch_insts": 6, "Active_blocks": 5, "Rep": 1, "Mem_LD": 420, "Departure_del_coal": 4, "Departure_del_uncoal": 10,
    "Issue_cycles": 4, "Mem_Bandwidth": 80, "Active_SM": 16,
}  # fmt: skip
OF_A_PROGRAM_ALONE = ("Synch_insts", "Active_blocks", "Rep")


def found(**changes):
    values = EXAMPLE | changes
    return {
        name: float(value)
        for name, value in parallelism(**{k: values[k] for k in values if k not in OF_A_PROGRAM_ALONE}).items()
    }


def terms(**changes):
    return {name: float(term) for name, term in MWP_CWP.formula.evaluate(**(EXAMPLE | changes)).terms.items()}


def test_the_papers_example_step_by_step():
    result = found()
    assert (result["Mem_L"], result["Departure_delay"]) == (730, 320)
    assert round(result["MWP_without_BW_full"], 2) == 2.28
    assert result["MWP_peak_BW"] == pytest.approx(28.57, rel=2e-3)  # there from a bandwidth rounded to 0.175 GB/s
    assert (result["Comp_cycles"], result["Mem_cycles"]) == (132, 4380)
    assert round(result["CWP_full"], 2) == 34.18
    assert (result["MWP"], result["CWP"]) == (730 / 320, 20)


def test_the_papers_example_in_all():
    # There MWP is rounded to 2.28, by 0.06 %; MWP - 1 by 0.1 %.
    result = terms()
    assert result["memory"] + result["compute"] == pytest.approx(38450, rel=1e-3)
    assert result["synchronisation"] == pytest.approx(12288, rel=1.1e-3)
    assert sum(result.values()) == pytest.approx(50738, rel=1e-3)


# The three cases. Mem_L = 100, coalesced; Issue_cycles 1.

COALESCED = {
    "Weight_uncoal": 0, "Mem_LD": 100, "Departure_del_coal": 10, "Issue_cycles": 1, "Mem_Bandwidth": np.inf,
    "Synch_insts": 0, "Mem_insts": 4,
}  # fmt: skip


def test_case_1_too_few_warps_for_either():
    case = COALESCED | {"N": 4, "Total_insts": 20}
    result = found(**case)
    assert result["MWP"] == result["CWP"] == 4
    assert terms(**case) == {"memory": 400, "compute": 20 + 20 / 4 * 3, "synchronisation": 0}


def test_case_2_memory_in_waves_of_mwp_warps():
    case = COALESCED | {"N": 30, "Total_insts": 20}
    result = found(**case)
    assert (result["MWP"], result["CWP"]) == (10, 21)
    assert terms(**case) == {"memory": 400 * 30 / 10, "compute": 20 / 4 * 9, "synchronisation": 0}


def test_case_3_all_but_the_first_access_hides_behind_computing():
    case = COALESCED | {"N": 30, "Total_insts": 200}
    result = found(**case)
    assert (result["MWP"], result["CWP"]) == (10, 3)
    assert terms(**case) == {"memory": 100, "compute": 200 * 30, "synchronisation": 0}


def printed(**changes):
    return {name: float(term) for name, term in MWP_CWP_PRINTED.evaluate(**(EXAMPLE | changes)).terms.items()}


def test_as_printed_case_2_is_also_that_of_more_computing_than_memory():
    """So a core group would take less than the 2400 cycles in which 30 warps' instructions are issued."""
    case = COALESCED | {"N": 30, "Total_insts": 800}
    result = found(**case)
    assert result["Comp_cycles"] > result["Mem_cycles"]
    assert printed(**case) == {"memory": 400 * 30 / 10, "compute": 800 / 4 * 9, "synchronisation": 0}
    assert sum(printed(**case).values()) < 800 * 30 < sum(terms(**case).values())


@pytest.mark.parametrize("changes", [{}, *(COALESCED | {"N": n, "Total_insts": i} for n, i in ((4, 20), (30, 200)))])
def test_as_printed_the_cases_are_the_same_where_memory_takes_longer(changes):
    assert printed(**changes) == terms(**changes)


def test_without_memory_instructions_only_computing_remains():
    case = COALESCED | {"N": 30, "Total_insts": 200, "Mem_insts": 0, "Synch_insts": 7, "Rep": 2}
    assert terms(**case) == {"memory": 0, "compute": 200 * 30 * 2, "synchronisation": 0}
    assert sum(terms(**case | {"Total_insts": 0}).values()) == 0


def test_repetitions_multiply_everything():
    once, thrice = terms(), terms(Rep=3)
    assert thrice == {name: pytest.approx(3 * term, rel=1e-15) for name, term in once.items()}  # one rounding


def test_bandwidth_limits_mwp():
    # 40 bytes a cycle, 2 groups: 40 * 100 / (128 * 2) warps
    assert found(**COALESCED, Active_SM=2)["MWP"] == 10
    limited = COALESCED | {"Mem_Bandwidth": 20, "Active_SM": 2}
    assert found(**limited)["MWP"] == 20 * 100 / (128 * 2)


def test_synchronisation_costs_the_departure_of_the_other_warps():
    case = COALESCED | {"N": 30, "Total_insts": 20, "Synch_insts": 3, "Active_blocks": 2}
    assert terms(**case)["synchronisation"] == 10 * (10 - 1) * 3 * 2


def test_where_bandwidth_presses_mwp_below_1_no_other_warp_is_there():
    pressed = COALESCED | {"N": 30, "Total_insts": 20, "Mem_Bandwidth": 1, "Synch_insts": 3}
    result = terms(**pressed)
    mwp = 100 / (128 * 16)
    assert result == {"memory": pytest.approx(400 * 30 / mwp, rel=1e-15), "compute": 0, "synchronisation": 0}


def test_uncoalesced_instructions_take_longer_and_depart_later():
    coalesced, half, all_of_them = (found(Weight_uncoal=weight) for weight in (0, 0.5, 1))
    assert [result["Mem_L"] for result in (coalesced, half, all_of_them)] == [420, 575, 730]
    assert [result["Departure_delay"] for result in (coalesced, half, all_of_them)] == [4, 162, 320]


positive = st.integers(1, 1000)


@given(
    warps=st.integers(1, 64), computing=st.integers(0, 1000), memory=st.integers(1, 100), latency=positive,
    delay=st.integers(1, 50), issue=st.integers(1, 8), bandwidth=st.integers(1, 1000),
)  # fmt: skip
def test_mwp_and_cwp_lie_within_the_warps_and_the_time_is_that_of_the_case(
    warps, computing, memory, latency, delay, issue, bandwidth
):
    case = {
        "N": warps, "Total_insts": computing + memory, "Mem_insts": memory, "Weight_uncoal": 0, "Mem_LD": latency,
        "Departure_del_coal": delay, "Issue_cycles": issue, "Mem_Bandwidth": bandwidth, "Synch_insts": 0,
    }  # fmt: skip
    result = found(**case)
    mwp, cwp, comp, mem = result["MWP"], result["CWP"], result["Comp_cycles"], result["Mem_cycles"]
    assert 0 < mwp <= warps
    assert 1 <= cwp <= warps
    if mwp == warps and cwp == warps:
        expected = mem + comp + comp / memory * max(mwp - 1, 0)
    elif cwp >= mwp:
        expected = mem * warps / mwp + comp / memory * max(mwp - 1, 0)
    else:
        expected = result["Mem_L"] + comp * warps
    assert sum(terms(**case).values()) == pytest.approx(expected, rel=1e-13)  # a handful of roundings


@pytest.mark.parametrize("changes", [{}, COALESCED | {"N": 4, "Total_insts": 20, "Mem_Bandwidth": 10**6},
                                     COALESCED | {"N": 30, "Total_insts": 200, "Mem_Bandwidth": 10**6}])  # fmt: skip
def test_the_symbolic_form_gives_the_same_numbers(changes):
    values = EXAMPLE | changes
    for formula, numbers in ((MWP_CWP.formula, terms(**changes)), (MWP_CWP_PRINTED, printed(**changes))):
        for name, expression in formula.expressions.items():
            number = expression.subs({letter: values[letter.name] for letter in expression.free_symbols})
            assert float(number) == pytest.approx(numbers[name], rel=1e-14)  # a handful of roundings


# Parameters of machines


def machine(**changes):
    tables = {
        "name": "m",
        "clock_hz": 1e9,
        "cores": {"groups": 2, "cores_per_group": 2, "warp_width": 4, "max_threads_per_core": 8},
        "memory": {"latency": 100, "chunk_words": 8, "service": 8},
    }
    return Machine.from_dict(tables).replace(changes)


def test_the_shipped_gtx280_has_the_published_departure_delays_and_says_how_sure_they_are():
    gtx280 = load_machine("gtx280")
    assert departure_delays(gtx280) == (4, 40)
    for key in ("hong_kim.departure_delay_coalesced", "hong_kim.departure_delay_uncoalesced"):
        assert gtx280.sources[key].certainty == "unconfirmed"
    assert gtx280.issue_cycles == 4  # the paper's issue cycles


def test_the_derived_delays_of_the_gtx280_are_near_the_published_ones():
    derived = departure_delays(load_machine("gtx280").replace({"hong_kim": None}))
    assert derived[0] == 4
    assert derived[1] == pytest.approx(40, rel=0.13)  # 35.1: the share of a data sheet's bandwidth is a lower bound
    assert derived[1] == pytest.approx(30 * 128 / (8 * 128 / 9.37), rel=1e-14)  # a few roundings


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (2, 16)),  # two groups share 32 bytes each 8 cycles
        ({"memory.partitions": 4}, (2, 4)),
        ({"memory.partitions": 1000}, (2, 2)),
        ({"memory.service": 0}, (2, 2)),
        ({"memory.port_interval": 5, "memory.partitions": 100}, (5, 5)),
        ({"hong_kim.departure_delay_coalesced": 3}, (3, 16)),
        ({"hong_kim.departure_delay_uncoalesced": 30}, (2, 30)),
    ],
)
def test_delays_that_a_machine_lacks_follow_from_issue_port_and_bandwidth(changes, expected):
    assert departure_delays(machine(**changes)) == expected


# Predictions from counts


def launch(**changes):
    values = {
        "kernel": "f", "work": 100, "span": 10, "memory_operations": 40, "memory_instructions": 20, "threads": 32,
        "blocks": 4, "active_blocks": 2, "blocks_in_use": 4, "warps_in_use": 8, "threads_per_core": 8.0,
        "instructions": 80, "uncoalesced_instructions": 10, "uncoalesced_operations": 30, "barriers": 1,
        "bytes_read": 100, "bytes_written": 60,
    } | changes  # fmt: skip
    return LaunchCounts(**values)


def counts(*launches):
    work, memory = sum(each.work for each in launches), sum(each.memory_operations for each in launches)
    return Counts(work, 0, memory, 0, 1.0, 1.0, launches)


def test_the_symbols_of_a_launch_are_the_means_of_its_warps():
    prediction = mwp_cwp(machine(), counts(launch()))
    assert prediction.symbols == {
        "N": 4, "Total_insts": 10, "Mem_insts": 2.5, "Weight_uncoal": 0.5, "Uncoal_per_mw": 3, "Load_bytes_per_warp": 8,
        "Synch_insts": 1, "Active_blocks": 2, "Rep": 1, "Mem_LD": 100, "Departure_del_coal": 2,
        "Departure_del_uncoal": 16, "Issue_cycles": 2, "Mem_Bandwidth": 4, "Active_SM": 2, "r": 1,
    }  # fmt: skip
    # Mem_L = 100 + 2 * 16 / 2, Departure_delay = 3 * 16 / 2 + 2 / 2, MWP = CWP = 4 = N or less
    mem_l, delay, comp = 116, 25, 20
    mwp = min(mem_l / delay, 4 * mem_l / (8 * 2), 4)
    assert mwp == 4
    assert prediction.terms == {
        "memory": pytest.approx(2.5 * mem_l),
        "compute": pytest.approx(comp + comp / 2.5 * 3),
        "synchronisation": pytest.approx(delay * 3 * 1 * 2),
    }
    assert prediction.cycles == pytest.approx(sum(prediction.terms.values()))
    assert (prediction.bound, prediction.seconds) == ("memory", prediction.cycles / 1e9)


def test_fewer_blocks_than_groups_leave_groups_idle():
    prediction = mwp_cwp(machine(), counts(launch(blocks=1, blocks_in_use=1, threads=8, warps_in_use=2)))
    assert (prediction.symbols["Active_SM"], prediction.symbols["N"], prediction.symbols["Rep"]) == (1, 2, 1)


def test_more_blocks_than_fit_repeat():
    prediction = mwp_cwp(machine(), counts(launch(blocks=10, threads=80)))
    assert (prediction.symbols["Active_SM"], prediction.symbols["N"], prediction.symbols["Rep"]) == (2, 4, 2.5)


def test_launches_follow_one_another():
    one, other = launch(), launch(memory_instructions=4, uncoalesced_instructions=0, uncoalesced_operations=0)
    result = mwp_cwp(machine(), counts(one, other))
    each = [mwp_cwp(machine(), counts(launch)) for launch in (one, other)]
    assert result.cycles == pytest.approx(sum(prediction.cycles for prediction in each), rel=1e-15)  # one rounding
    assert result.symbols["r"] == 2


def test_launches_without_memory_instructions_only_compute():
    calm = launch(
        memory_operations=0, memory_instructions=0, uncoalesced_instructions=0, uncoalesced_operations=0, bytes_read=0,
        bytes_written=0,
    )  # fmt: skip
    prediction = mwp_cwp(machine(), counts(calm))
    assert prediction.terms == {"memory": 0, "compute": 2 * 10 * 4, "synchronisation": 0}
    both = mwp_cwp(machine(), counts(calm, launch()))
    assert both.cycles == pytest.approx(80 + mwp_cwp(machine(), counts(launch())).cycles, rel=1e-15)  # one rounding


def test_a_traced_kernel_is_predicted():
    threads = [[load(0, 4 * lane), work(1, 7), barrier(2), load(3, 64 * lane)] for lane in range(8)]
    prediction = mwp_cwp(machine(), count(trace([threads] * 6), machine()))
    symbols = prediction.symbols
    assert (symbols["Total_insts"], symbols["Mem_insts"], symbols["Weight_uncoal"]) == (9, 2, 0.5)
    assert (symbols["Uncoal_per_mw"], symbols["Load_bytes_per_warp"], symbols["Synch_insts"]) == (4, 16, 1)
    assert (symbols["N"], symbols["Rep"], symbols["Active_blocks"]) == (4, 6 / 4, 2)


@pytest.mark.parametrize("name", machine_files())
def test_every_shipped_machine_has_a_prediction(name):
    threads = [[load(0, 4 * lane), work(1, 7), barrier(2), load(3, 64 * lane)] for lane in range(64)]
    shipped = load_machine(name)
    prediction = mwp_cwp(shipped, count(trace([threads] * 6, [[[work(0, 1)]]]), shipped))
    assert 0 < prediction.cycles < 1e6
    assert all(term >= 0 for term in prediction.terms.values())


def test_a_program_without_launches_takes_no_time_and_counts_without_theirs_are_refused():
    assert mwp_cwp(machine(), Counts(0, 0, 0, 0, 0.0, 0.0, ())).cycles == 0
    with pytest.raises(ModelError, match=r"^mwp-cwp: counts without launches: must have at least one"):
        mwp_cwp(machine(), Counts(5, 1, 0, 0, 1.0, 1.0, ()))


# Domains, arrays


@pytest.mark.parametrize(
    ("symbol", "value"),
    [
        ("N", 0), ("Total_insts", -1), ("Mem_insts", -1), ("Weight_uncoal", 1.5), ("Uncoal_per_mw", 0.5),
        ("Load_bytes_per_warp", -1), ("Synch_insts", -1), ("Active_blocks", 0), ("Rep", -1), ("Mem_LD", 0),
        ("Departure_del_coal", 0), ("Departure_del_uncoal", 0), ("Issue_cycles", 0), ("Mem_Bandwidth", 0),
        ("Active_SM", 0),
    ],
)  # fmt: skip
def test_a_value_outside_its_domain_is_refused_by_name(symbol, value):
    with pytest.raises(ModelError, match=rf"^mwp-cwp: {symbol} = {value}: must be "):
        MWP_CWP.formula.evaluate(**(EXAMPLE | {symbol: value}))
