"""Measurements: every experiment yields rows, the rows are stored, and the docs pages are made from the stored rows.

Nothing is imported here: processes of one experiment need not load the others.
"""
