"""Tuning: find the best configuration of a kernel, or machine for it, with samples of growing precision.

space    which configurations there are          trial    one of them compiled, and simulated
goals    what is minimised, and conditions       front    which are best by two objectives
halving  which are worth more precision          sampler  which are tried where not all can be
kept     results of before, to go on from        search   all of it, step by step
tune     a search from words to result           tuned    what came of it
advice   launch shapes alone                     launch_shapes  which there are
t1, t4   problems and results in Kernel Tuner's formats
"""
