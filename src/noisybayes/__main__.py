"""`python -m noisybayes`, for where the console script is not on the path."""

from .cli import main

main()
