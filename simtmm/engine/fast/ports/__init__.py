"""Issue ports, the order in which warps come to them, and the pipes behind them (section 5).

issue        what a grant takes up            scheduler     the ready warps in their order
own_ports    ports of their own slots alone   pipes         what instructions pass behind a port
own_rule     ports that a user's rule schedules: rule_sight, what it sees; rule_arrays, its arrays
"""
