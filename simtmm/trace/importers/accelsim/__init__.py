"""Traces of Accel-Sim: what `kernelslist.g` names."""

from simtmm.trace.importers.accelsim.importer import bytes_to_read as bytes_to_read
from simtmm.trace.importers.accelsim.importer import read as read
from simtmm.trace.importers.accelsim.importer import recognise as recognise
