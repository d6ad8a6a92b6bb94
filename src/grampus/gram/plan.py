"""Choose by cost whether to store a matrix, use explicit features, or multiply. No other module weighs cost."""

from enum import Enum

from .base import Gram
from .transforms.stored import fits, store


class Plan(Enum):
    """How a computation reads a Gram.

    ``STORE``: compute the whole matrix once and keep it (a stored Gram is used as it is). ``FEATURES``: pass over the
    explicit features. ``MULTIPLY``: request products and rows from the Gram each time.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import DenseGram, Plan, plan
    >>> plan(DenseGram(np.eye(3)), columns=1) is Plan.STORE
    True
    """

    STORE = "store"
    FEATURES = "features"
    MULTIPLY = "multiply"


def plan(
    gram: Gram,
    columns: float,
    passes: float = 1.0,
    *,
    rows: float | None = None,
    features_speed: float = 1.0,
    room: float | None = None,
) -> Plan:
    """Choose the cheapest way to do a computation on a Gram, by counting multiplications.

    The matrix is stored only where it fits into a quarter of the memory budget *and* storing it is cheapest, so a
    larger budget never makes anything slower.

    Parameters
    ----------
    gram : Gram
    columns : float
        Columns of each product.
    passes : float
        Number of such products.
    rows : float, optional
        Total rows of a stored matrix that are read, where that is less than products would read.
    features_speed : float
        Speed of a multiplication with the features, relative to the others.
    room : float, optional
        Bytes that a stored matrix may take, where it is not stored in this machine's memory.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, Plan, plan
    >>> plan(LinearGram(np.ones((1000, 2))), columns=10, passes=15)
    <Plan.FEATURES: 'features'>
    """
    n, cost = len(gram), gram.cost()
    if cost.whole == 0:
        return Plan.STORE  # it is stored
    explicit = gram.features()
    wanted = columns * passes
    products = wanted * cost.product / (1.0 if explicit is None else features_speed)
    stays = fits(gram) if room is None else n * n * gram.dtype.itemsize <= room
    if stays and cost.whole + n * (wanted * n if rows is None else rows) < products:
        return Plan.STORE
    return Plan.MULTIPLY if explicit is None else Plan.FEATURES


def quick_products(gram: Gram, count: float) -> Gram:
    """Return a Gram with fast products, stored if that pays off for `count` vectors.

    Parameters
    ----------
    gram : Gram
    count : float
        Vectors that will be multiplied.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import quick_products
    >>> from grampus.kernels import Gaussian
    >>> gram = Gaussian(1.0).gram(np.ones((50, 3)))
    >>> quick_products(gram, 1) is gram, quick_products(gram, 200).cost().whole
    (True, 0.0)
    """
    return store(gram) if plan(gram, 1, count) is Plan.STORE else gram


def quick_rows(gram: Gram, count: float) -> Gram:
    """Return a Gram with fast rows, stored if that pays off for `count` rows read one at a time.

    Parameters
    ----------
    gram : Gram
    count : float
        Rows that will be read.

    Examples
    --------
    >>> import numpy as np
    >>> from grampus.gram import LinearGram, empirical_map, quick_rows
    >>> gram = empirical_map(LinearGram(np.ones((50, 3))))
    >>> quick_rows(gram, 1) is gram, quick_rows(gram, 500).cost().whole
    (True, 0.0)
    """
    cost = gram.cost()
    return store(gram) if cost.whole < count * cost.row and fits(gram) else gram
