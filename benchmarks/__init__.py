"""Benchmarks: each stage beside its alternatives, measured in one run; results in `results/`."""
