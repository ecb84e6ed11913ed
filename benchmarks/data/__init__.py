"""Data sets, real and made, and label noise."""
