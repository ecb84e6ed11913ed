"""`python -m benchmarks NAME`: measure, store the rows, regenerate the pages."""

from .commands import bench

bench()
