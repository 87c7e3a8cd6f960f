"""Benchmarks: ratios and medians of one run, printed as a table and written as JSON. Not tests; nothing is asserted."""
