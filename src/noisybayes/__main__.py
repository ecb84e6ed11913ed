"""`python -m noisybayes`, for where the console script is not on the path."""

from .cli import main

if __name__ == "__main__":  # importing it, as tools for documentation do, runs nothing
    main()
