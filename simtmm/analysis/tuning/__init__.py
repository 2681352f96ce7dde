"""Tuning: the fastest configuration of a kernel, by samples of growing precision.

space    which configurations there are          trial    one of them compiled, and simulated
halving  which are worth more precision          kept     results of before, to go on from
search   all of it                               t1, t4   problems and results in Kernel Tuner's formats
"""
