"""Times without a simulation: what the models say of a program, or of an algorithm of the papers.

predict, predictions    the models' times of a program; measured: a time to compare them with
followed, crossover     the papers' algorithm that a program follows; where one is faster than another
equations               single equations at many points
"""
