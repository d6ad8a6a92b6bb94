"""What a run owes to an extra: words of scripts without spaces are others with ``[cjk]`` than without."""

from importlib.metadata import PackageNotFoundError, version

from ...errors import MissingExtraError, RunError
from ...persist import Provenance
from ...text.languages.segment import UNSPACED, has_segmenter, is_unspaced
from .inputs import Inputs

SEGMENTER = "icu4py"  # its entry among the versions of a run
ABSENT = "not installed"


def is_segmented(inputs: Inputs) -> bool:
    """Return whether words of the texts depend on the extra ``[cjk]``: some are in a script without spaces."""
    if not inputs.has_texts:
        return False
    languages = () if inputs.prepared is None else inputs.prepared.preparation.languages
    return not UNSPACED.isdisjoint(languages) if languages else any(map(is_unspaced, inputs.corpus.texts))


def segmenter_version(inputs: Inputs) -> dict[str, str]:
    """Return the version of what found the words, for the record; nothing where no word depends on it."""
    if not is_segmented(inputs):
        return {}
    try:
        return {SEGMENTER: version(SEGMENTER) if has_segmenter() else ABSENT}
    except PackageNotFoundError:  # installed without its metadata
        return {SEGMENTER: "unknown"}


def needed_extras(provenance: Provenance) -> str:
    """Return what to add to the line that repeats a run: the extra that its answer rests on and no option names."""
    return "  # with grampus[cjk]" if provenance.versions.get(SEGMENTER, ABSENT) != ABSENT else ""


def require_extras(provenance: Provenance) -> None:
    """Refuse to read new texts in other terms than those of a run: with ``[cjk]`` instead of without, or reversed."""
    recorded = provenance.versions.get(SEGMENTER)
    if recorded is None or (recorded != ABSENT) == has_segmenter():
        return
    if recorded != ABSENT:
        raise MissingExtraError(
            "The words of this run were found by the extra [cjk], which is not installed; without it, new documents "
            "have other terms. Run: pip install 'grampus[cjk]'"
        )
    raise RunError(
        "This run was made without the extra [cjk], in pairs of characters; with it, new documents have other terms. "
        f"Recreate the run, or run: pip uninstall {SEGMENTER}"
    )
