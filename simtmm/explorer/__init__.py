"""`simtmm explore`: a machine and a program under sliders, simulated anew at each move.

What a state of the page means, and what is shown of it, is plain Python without a server:

    state       the state in the address: programs, machines, controls, parameters, of one or two configurations
    controls    what can be moved of a machine: its own value, its range, and the keys that change
    programs    the programs that a page may name, recorded and lowered once
    simulation  a configuration simulated, whole or as a sample; cancelled by the next
    curve       the time over what is being dragged, with knee and threshold
    views       what is drawn of a run
    saved       the study file, the command line and the Python that do the same
    stories     effects to be taught, each with a claim that a test computes
    session     what one page asks, and what it is answered

Only `server` knows tornado, and only `widget` anywidget.
"""
