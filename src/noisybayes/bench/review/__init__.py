"""A review, simulated: which order of the rows brings the wrong labels before a reviewer's eyes first?

Data set x order x seed -> stored rows -> docs/review.md.
"""
