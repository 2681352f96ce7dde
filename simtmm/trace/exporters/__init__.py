"""Traces of simtmm as other tools read them."""

from simtmm.trace.exporters.accelsim import export_accelsim

__all__ = ["export_accelsim"]
