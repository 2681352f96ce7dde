"""Many programs on many machines, as simulated, modelled and measured, and how these times agree.

compare                   runs them
programs, case            what is compared; one program on one machine, or why not
comparison                the times of all
agreement, fitted_lines   of one series with another; models that are lines through the cases
winners                   the fastest program at each place
"""
