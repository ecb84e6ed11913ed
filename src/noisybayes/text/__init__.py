"""Columns to features: words of texts, categories, numbers, as one sparse matrix."""
