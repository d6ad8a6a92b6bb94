"""Results as pandas data frames: the only module that imports pandas, an extra (``grampus[frames]``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import InputError, MissingExtraError


def data_frame(columns: Mapping[str, Any], index: Any = None, name: str | None = None) -> Any:
    """Return columns as a pandas DataFrame.

    Parameters
    ----------
    columns : mapping of str to sequence
    index : sequence or pandas.Index, optional
        One value for each row. An Index is kept as it is.
    name : str, optional
        Of the index, unless it is an Index already.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("pandas must be installed for this; run: pip install 'grampus[frames]'") from error
    if index is not None and not isinstance(index, pandas.Index):
        index = pandas.Index(index, name=name)
    return pandas.DataFrame(dict(columns), index=index)


def check_frame_index(index: Any, rows: int) -> Any:
    """Return an index that has a value for each row."""
    if not isinstance(index, Sequence) and not hasattr(index, "__len__"):
        raise InputError(f"index must be the index of a frame, or a sequence; got {type(index).__name__}.")
    if len(index) != rows:
        raise InputError(f"index must have a value for each of the {rows} documents; got {len(index)}.")
    return index
