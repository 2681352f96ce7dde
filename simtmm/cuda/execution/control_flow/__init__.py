"""How lanes of a warp go through a program's blocks of code, wait for each other, and call functions."""
