"""Results as data frames: the only module that imports pandas (the extra ``grampus[frames]``), polars or pyarrow."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .errors import InputError, MissingExtraError


def data_frame(columns: Mapping[str, Any], index: Any = None, name: str | None = None, library: str = "pandas") -> Any:
    """Return columns as a data frame.

    Parameters
    ----------
    columns : mapping of str to sequence
    index : sequence or pandas.Index, optional
        One value for each row. An Index is kept as it is; polars and pyarrow, which have no index, get a column.
    name : str, optional
        Of the index, unless it is an Index already.
    library : "pandas", "polars" or "pyarrow"
        Whose data frame.
    """
    try:
        module = import_module(library)
    except ImportError as error:
        raise MissingExtraError("pandas must be installed for this; run: pip install 'grampus[frames]'") from error
    if library != "pandas":
        whole = dict(columns) if index is None else {name or "row": list(index), **columns}
        return module.table(whole) if library == "pyarrow" else module.DataFrame(whole)
    if index is not None and not isinstance(index, module.Index):
        index = module.Index(index, name=name)
    return module.DataFrame(dict(columns), index=index)


def check_frame_index(index: Any, rows: int) -> Any:
    """Return an index that has a value for each row."""
    if not isinstance(index, Sequence) and not hasattr(index, "__len__"):
        raise InputError(f"index must be the index of a frame, or a sequence; got {type(index).__name__}.")
    if len(index) != rows:
        raise InputError(f"index must have a value for each of the {rows} documents; got {len(index)}.")
    return index
