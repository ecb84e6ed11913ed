"""A simulated review: which order of the rows shows a reviewer the wrong labels first?

Data set x order x seed -> stored rows -> docs/review.md.
"""
