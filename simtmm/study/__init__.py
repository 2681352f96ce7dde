"""Studies: what people do with a machine and a program, from one run upwards."""
