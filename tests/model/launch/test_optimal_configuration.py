"""The indicators A_B and A_T; dissertation, Eq (5.3) to (5.6)."""

# ruff: noqa: N803, N806 - the letters of the equations

import numpy as np
import pytest
import sympy

from simtmm.errors import ModelError
from simtmm.model.launch.optimal_configuration import (
    blocks_are_optimal,
    fills_warps,
    fills_waves,
    thread_constraints,
    threads_are_optimal,
)
from tests.model.ma_chapters import published, table_5_4

LETTERS = ("P", "Q", "R", "W", "N_W", "T_maxB", "T_maxMP")


def launch(T_r, B_a=1, R_T=20, B_r=15, **others):
    table = table_5_4()
    return {letter: table[letter] for letter in LETTERS} | {"T_r": T_r, "B_a": B_a, "R_T": R_T, "B_r": B_r} | others


@published("ma.zigzag480")
def test_the_optimal_blocks_are_the_documents(item):
    first, last = item["B_r_range"]
    B_r = np.arange(first, last + 1)
    assert B_r[fills_waves(B_r, 1, 480, 32)].tolist() == item["B_opt"]


def test_blocks_beyond_what_the_machine_holds_are_not_optimal():
    assert blocks_are_optimal([105, 120, 135], 1, 120, 480, 32).tolist() == [True, True, False]
    assert not blocks_are_optimal(119, 1, 120, 480, 32)


def test_threads_fill_warps():
    assert fills_warps([31, 32, 33, 64], 32).tolist() == [False, True, False, True]


@published("ma.occupancy_tr")
def test_the_documents_threads_are_optimal(item):
    for threads in item["threads_per_block"]:
        assert threads_are_optimal(**launch(threads))


@pytest.mark.parametrize(
    ("lacking", "values"),
    [
        ("whole warps", launch(961)),
        ("least warps", launch(160, R_T=128)),  # 6 warps are 192 threads; 32768 / 128 / 2 = 128 threads
        ("most threads", launch(1056)),  # T_maxB = 1024
        ("most threads", launch(1024, B_a=2)),  # 1536 / 2 = 768
        ("registers", launch(800)),  # 32768 / 20 / (15 / 15 + 1) = 819.2
    ],
)
def test_each_constraint_binds_alone(lacking, values):
    parts = thread_constraints(**values)
    assert [name for name, holds in parts.items() if not holds] == [lacking]
    assert not threads_are_optimal(**values)


def test_the_constraint_on_registers_is_tight():
    # 32768 / 16 = 2048 threads' registers, two blocks' worth of 1024 threads: B_r / (P / Q) + 1
    parts = thread_constraints(**launch(np.array([992, 1024]), R_T=16))
    assert parts["registers"].tolist() == [False, True]


def test_more_blocks_need_fewer_threads_each():
    # 819.2 threads for 15 blocks, 546.1 for 30, as registers are shared by three blocks then
    assert threads_are_optimal(**launch(np.array([544, 576, 544]), B_r=np.array([30, 30, 45]))).tolist() == [0, 1, 1]


def test_values_outside_the_domain_are_refused_by_name():
    with pytest.raises(ModelError, match=r"^A_T: R_T = 0: must be whole and at least 1 \(registers of a thread\)$"):
        threads_are_optimal(**launch(1024, R_T=0))
    with pytest.raises(ModelError, match=r"^B_opt: B_r = 0: must be whole and at least 1"):
        fills_waves(0, 1, 480, 32)


def test_an_indicator_takes_no_symbols():
    with pytest.raises(ModelError, match=r"^T_opt: T_r = "):
        fills_warps(sympy.Symbol("T_r"), 32)
