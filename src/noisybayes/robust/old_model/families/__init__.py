"""Feature families: how a row looks, given its true class."""

from .base import Family
from .bernoulli import Bernoulli
from .gaussian import Gaussian
from .mixed import Mixed
from .multinomial import Multinomial

#: The families of blocks of a mixed model by name; a new family is one file and one line here.
FAMILIES: dict[str, type[Family]] = {
    "bernoulli": Bernoulli,
    "gaussian": Gaussian,
    "multinomial": Multinomial,
}

__all__ = ["FAMILIES", "Bernoulli", "Family", "Gaussian", "Mixed", "Multinomial"]
