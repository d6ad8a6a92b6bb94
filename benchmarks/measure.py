"""Time ours and a peer by turns, and judge the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.processes import Answer, Failed, NotHere, run
from benchmarks.registry import Arrays, Row, Side

Spread = Sequence[float]
Once = Callable[[Side, Arrays, float], Answer]


def spread(values: Sequence[float]) -> Spread:
    """Return the median, the smallest and the largest value."""
    return [median(values), min(values), max(values)]


@dataclass
class Outcome:
    """Ours against one peer. `status` is met, short, disagrees, failed, not run, or timed (no promise)."""

    row: str
    text: str
    peer: str
    promise: float | None
    status: str
    detail: str = ""
    agreement: str = ""
    extrapolated: float = 1.0
    ours: Spread | None = None
    theirs: Spread | None = None
    ratio: Spread | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def bad(self) -> bool:
        """Whether --strict must fail on it."""
        return self.status in ("short", "disagrees", "failed")


def compare(row: Row, *, quick: bool = False, once: Once = run) -> Iterator[Outcome]:
    """Yield an outcome for each peer. At quick size a promise is not judged."""
    try:
        inputs = row.inputs(quick)
    except Exception as error:
        for peer in row.peers:
            yield Outcome(row.name, row.text, peer.name, peer.promise, "failed", f"inputs: {error!r}")
        return
    for peer in row.peers:
        yield _against(row, peer, inputs, quick, once)


def _against(row: Row, peer: Side, inputs: Arrays, quick: bool, once: Once) -> Outcome:
    outcome = Outcome(row.name, row.text, peer.name, peer.promise, "timed", extrapolated=peer.extrapolate)
    ours: list[Answer] = []
    theirs: list[Answer] = []
    try:
        for _ in range(1 if quick else row.repeats):
            ours.append(once(row.ours, inputs, row.timeout))
            theirs.append(once(peer, inputs, row.timeout))
        agreement = row.agreement(ours[-1].outputs, theirs[-1].outputs)
    except NotHere as notice:
        outcome.status, outcome.detail = "not run", str(notice)
        return outcome
    except Exception as error:
        outcome.status = "failed"
        outcome.detail = str(error) if isinstance(error, Failed) else repr(error)
        return outcome
    outcome.ours = spread([answer.seconds for answer in ours])
    outcome.theirs = spread([answer.seconds for answer in theirs])
    # Neighbours in time share the machine's mood: the ratio is taken pair by pair.
    outcome.ratio = spread([b.seconds / a.seconds for a, b in zip(ours, theirs, strict=True)])
    outcome.agreement = agreement.text
    outcome.versions = ours[-1].versions | {f"{peer.name}: {k}": v for k, v in theirs[-1].versions.items()}
    if not agreement.good:
        outcome.status = "disagrees"
    elif quick:
        outcome.detail = "quick size, promise not judged"
    elif peer.promise is not None:
        outcome.status = "met" if outcome.ratio[0] >= peer.promise else "short"
    return outcome
