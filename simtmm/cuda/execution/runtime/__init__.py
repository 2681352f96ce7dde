"""The runtime that translated code calls: LLVM assembly (*.ll), and Python that writes more of it for a program.

assembly_file                 the files, with the offsets of layout.py
accesses                      loads, stores and their log, by state space and width
check_log, barrier_places     the log for checks
device_clock                  the clocks that device code reads
turn_order                    the order in which blocks, warps and lanes take turns
built_in                      printf, assert, malloc and free
"""
