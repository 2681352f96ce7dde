"""The verdict: what binds a run, where in the program, and what would help; and why simulation and model differ.

verdict       what binds
sentence      that in a sentence
beside_model  why the TMM has another time
"""

from simtmm.analysis.verdict.beside_model import beside_the_model
from simtmm.analysis.verdict.verdict import UNTRIED, Behind, Verdict, verdict

__all__ = ["UNTRIED", "Behind", "Verdict", "beside_the_model", "verdict"]
