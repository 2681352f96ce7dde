"""Shared accesses of a group that keep an interval from one another (docs/machine.md, section 9)."""

import pytest

from simtmm import Machine, lower, simulate
from simtmm.errors import MachineError
from tests.trace.build import load, shared, trace, work
from tests.trace.test_compiled import lowered
from tests.trace.test_lower import machine

PORTS = 4
WAIT = 8  # accesses of a warp that wait while it goes on


def done(block, interval, **keys):
    """What a warp of four lanes does, on a group with four ports."""
    (warp,) = lowered(block, (), width=4, **{"banks.interval": interval, "cores.cores_per_group": 4 * PORTS, **keys})
    return warp


def kept(warp):
    """How long each shared access keeps its port."""
    return [amount for name, amount in warp if name == "shared"]


@pytest.mark.parametrize("interval", [1, 2, 3])
def test_accesses_without_anything_between_take_the_interval_of_a_ports_share(interval):
    took = kept(done([[shared(0, 0)] * 30], interval))
    assert took[-3:] == [PORTS * interval] * 3
    assert sum(took) == PORTS * interval * (30 - WAIT)


def test_the_first_accesses_wait_while_the_warp_goes_on():
    assert kept(done([[shared(0, 0)] * WAIT], 2)) == [1] * WAIT


@pytest.mark.parametrize(("instructions", "keeps"), [(1, 7), (6, 2), (7, 1), (100, 1)])
def test_instructions_run_beside_it(instructions, keeps):
    assert kept(done([[shared(0, 0), work(1, instructions)] * 90], 2))[-1] == keeps


@pytest.mark.parametrize(("apart", "chunks"), [(4, 1), (128, 4)])
def test_an_access_of_global_memory_takes_the_units_for_the_interval_or_a_cycle_for_each_chunk(apart, chunks):
    """It does not keep its port itself: the shared access behind it does, until both are taken."""
    block = [[shared(0, 0), load(1, apart * lane)] * 90 for lane in range(4)]
    took = PORTS * 2 + PORTS * max(2, chunks)
    assert kept(done(block, 2))[-1] == took - 1


def test_a_long_stream_of_global_memory_leaves_no_more_to_do_than_is_soon_done():
    """The units went on while the warp waited for memory."""
    took = kept(done([[load(1, 0)] * 500 + [shared(0, 0)]], 2))
    assert took == [PORTS * 2 * (2 * WAIT + 1 - WAIT)]


def test_accesses_of_global_memory_alone_keep_no_port():
    block = [[load(1, 4 * lane)] * 30 for lane in range(4)]
    assert done(block, 2) == done(block, 0)


@pytest.mark.parametrize(("apart", "degree"), [(1, 1), (32, 2), (64, 4)])
def test_conflicts_take_longer_where_they_take_longer_than_the_interval(apart, degree):
    block = [[shared(0, 4 * apart * lane)] * 30 for lane in range(4)]
    assert kept(done(block, 2, **{"banks.count": 64 if apart == 32 else 32}))[-1] == PORTS * max(2, degree)


def test_without_an_interval_each_access_keeps_its_port_for_its_conflicts_alone():
    assert kept(done([[shared(0, 128 * lane)] * 30 for lane in range(4)], 0)) == [4] * 30


@pytest.mark.parametrize("service", [1, 2, 3])
@pytest.mark.parametrize(("apart", "degree"), [(1, 1), (64, 4)])
def test_each_pass_takes_the_banks_for_their_service(apart, degree, service):
    block = [[shared(0, 4 * apart * lane)] * 30 for lane in range(4)]
    keys = {"banks.count": 32, "banks.service": service}
    assert kept(done(block, 2, **keys))[-1] == PORTS * max(2, degree * service)
    assert kept(done(block, 0, **keys)) == [degree * service] * 30


@pytest.mark.parametrize("service", [0, 1.5, 1 << 17, "two"])
def test_a_service_that_is_no_number_of_cycles_is_refused(service):
    tables = {**machine().to_dict(), "banks": {"service": service}}
    with pytest.raises(MachineError, match=r"banks.service = .*: must be a whole number"):
        Machine.from_dict(tables)


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize("warps", [4, 8])
def test_a_groups_accesses_take_the_interval_each(engine, warps):
    """But for those of each warp that wait when it ends."""
    accesses = 20
    of_group = machine(**{"banks.interval": 2, "cores.cores_per_group": 4 * PORTS, "cores.groups": 1})
    workload = lower(trace([[[shared(0, 0)] * accesses] * (4 * warps)]), of_group)
    assert simulate(of_group, workload, engine).ticks == 2 * warps * (accesses - WAIT)


@pytest.mark.parametrize("interval", [-1, 1e6 + 1, "long"])
def test_an_interval_that_nobody_counts_is_refused(interval):
    tables = {**machine().to_dict(), "banks": {"interval": interval}}
    with pytest.raises(MachineError, match=r"banks.interval = .*: must be a number of at least 0"):
        Machine.from_dict(tables)
