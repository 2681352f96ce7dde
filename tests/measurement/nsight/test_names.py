"""One kernel has many names: those that may be the same match, and those that can't don't."""

import pytest

from simtmm.measurement.nsight.names import kernel_name, without_parameters


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("saxpy", "saxpy(const float *, float *, float, int)"),
        ("saxpy(float const*, float*)", "saxpy"),
        ("_Z5saxpyPKfPffi", "saxpy"),
        ("_Z5saxpyPKfPffi", "saxpy(float const*, float*, float, int)"),
        ("_Z5saxpyPKfPffi", "saxpy(const float *, float *, float, int)"),
        ("void f<const float *>(int)", "void f<float const*>(int)"),
        ("f(unsigned long, long int)", "f(unsigned long int, long)"),
        ("void tile<0>(const float *, int)", "tile<0>"),
        ("void tile<(int)0>(const float *, int)", "tile<0>(const float *, int)"),
        ("void f<(unsigned int)4, (bool)1>(int)", "f<4u, true>(int)"),
        ("void a::b::f<int>(int)", "f<int>"),
        ("void a::b::f<int>(int)", "b::f"),
        ("(anonymous namespace)::f(int)", "f"),
        ("(anonymous namespace)::f(int)", "<unnamed>::f(int)"),
        ("void f<(anonymous namespace)::Op>(int)", "f<<unnamed>::Op>"),
        ("void a::B<int>::f(int)", "f"),
        ("void f<a::g<2>(int)>(int)", "f"),
        # As Nsight Compute writes instances of templates
        ("_Z5saxpyIfEviT_PKS0_PS0_", "void saxpy<float>(int, T1, const T1 *, T1 *)"),
        ("void saxpy<float>(int, float, float const*, float*)", "void saxpy<float>(int, T1, const T1 *, T1 *)"),
        (
            "void a::f<(int)4, a::Fill<float, (int)2>>(int, T2)",
            "void a::f<4, a::Fill<float, 2> >(int, a::Fill<float, 2>)",
        ),
        ("void f<S>(T1::value_type *)", "void f<S>(int*)"),
        ("void f<int, int>(T1...)", "void f<int, int>(int, int)"),
        ("void B<float>::f<int>(T2)", "void B<float>::f<int>(int)"),
        ("f(T1 *)", "f(T1*)"),
    ],
)
def test_names_of_the_same_kernel_match_in_both_directions(one, other):
    assert kernel_name(one).may_be(kernel_name(other))
    assert kernel_name(other).may_be(kernel_name(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("saxpy", "saxpy2"),
        ("void tile<0>(int)", "void tile<1>(int)"),
        ("tile<(int)0>", "tile<1>"),
        ("a::f(int)", "b::f(int)"),
        ("f(int)", "b::f(int)"),
        ("f(int)", "f(float)"),
        ("void f<float>(float *)", "void f<double>(double *)"),
        ("void f<float>(T1 *)", "void f<double>(T1 *)"),
        ("void f<float>(T1 *)", "void f<float>(T1)"),
        ("void f<float, int>(T1 *)", "void f<float, int>(int*)"),
        ("f(T1 *)", "f(float*)"),
    ],
)
def test_names_of_different_kernels_do_not(one, other):
    assert not kernel_name(one).may_be(kernel_name(other))
    assert not kernel_name(other).may_be(kernel_name(one))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("void a::f<(int)3>(float *, int)", "a::f<(int)3>"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
        ("void f<void (*)(int)>(int)", "f<void (*)(int)>"),
        ("saxpy", "saxpy"),
    ],
)
def test_parameters_are_left_out_of_a_shown_name(text, wanted):
    assert without_parameters(text) == wanted
