"""The audit: scores out of fold, two readings of them, one pool."""
