"""Transforms of a Gram: each is a Gram over another Gram and stores what it learned from the collection.

``shift``, ``normalise(0)``, ``centre`` and ``map`` need only products of their base, so they never form n × n.
``power`` and ``normalise(t > 0)`` act entry by entry, on tiles.
"""

from .base import Transformed
from .centre import Centred, centre
from .map import Mapped, empirical_map
from .normalise import Normalised, check_order, normalise
from .power import Powered, power
from .selftuning import SelfTuned, self_tune
from .shift import Shifted, check_shift, shift
from .stored import Stored, fits, store

__all__ = [
    "Centred",
    "Mapped",
    "Normalised",
    "Powered",
    "SelfTuned",
    "Shifted",
    "Stored",
    "Transformed",
    "centre",
    "check_order",
    "check_shift",
    "empirical_map",
    "fits",
    "normalise",
    "power",
    "self_tune",
    "shift",
    "store",
]
