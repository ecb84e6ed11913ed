"""Rows that are processed block by block: in memory, in shards on disk, or on the workers of a cluster."""

from .dataset import Dataset, MapSum
from .folds import Folds
from .rows import Rows
from .shards import Shards

__all__ = ["Dataset", "Folds", "MapSum", "Rows", "Shards"]
