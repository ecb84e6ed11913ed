"""Measurements: every experiment yields rows, the rows are stored, and the docs pages are generated from them.

Nothing is imported here, so that a process of one experiment does not load the others.
"""
