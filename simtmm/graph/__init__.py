"""Graphs of users, in place of those that kernels draw: read from files or from networkx, checked and measured."""

from simtmm.graph.graph import Graph as Graph
from simtmm.graph.opened import Source as Source
from simtmm.graph.opened import opened_graph as opened_graph
