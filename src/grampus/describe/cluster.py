"""The description of one cluster."""

from dataclasses import dataclass
from typing import NamedTuple


class Term(NamedTuple):
    """A word, phrase or substring, and its score for a cluster.

    Examples
    --------
    >>> from grampus.describe import Term
    >>> Term("whale", 0.4).text
    'whale'
    """

    text: str
    score: float


@dataclass(frozen=True)
class Cluster:
    """What a cluster is about, and which documents to read. Documents are given by their position in the collection.

    Attributes
    ----------
    number : int
        The cluster's label in ``labels``.
    size : int
        The number of its documents.
    name : str
        Its title: the word or phrase that says best what it is about, as it is written in its documents.
    terms : tuple of Term
        Distinguishing words (or substrings, or columns), best first, with their score.
    describing : tuple of Term
        Words with the largest share of the centroid, with that share.
    phrases : tuple of Term
        Two or three consecutive words, or a compound, with their score.
    central, borderline, outliers : tuple of int
        Documents nearest to the centroid; those nearly as near to another one; those that resemble the cluster least.
    cohesion : float
        Mean similarity of two different documents of the cluster.
    nearest : int
        The cluster most similar to this one on average; −1 if there is no other.
    separation : float
        Cohesion minus the mean similarity to the documents of the nearest cluster.
    stability : float or None
        How reliably the cluster is found again in random halves of the documents, 0 to 1; None if not measured.
    alike : float or None
        Cohesion beyond chance, as a share of what is possible: 0 for documents that are no more alike than those of
        different clusters, 1 for equal ones; None where it is not known.
    mixed : bool
        Whether it is what is left over: its documents are hardly more alike than those of different clusters, and far
        less alike than those of the other clusters. A large heap is easily found again: its stability does not tell.
    sentence : str
        A title or sentence of a central document that holds words of the name; '' if there is none.
    name_share, centre_share : float or None
        How well the name says it: the share of its documents whose meaning is nearer to its name than to that of any
        other cluster, and the share that is nearest to its centre, which no name can do better than by chance. None
        where meaning is not compared, or the name is from elsewhere.
    words : tuple of str
        Up to three further words or phrases that tell it from the others.

    Examples
    --------
    >>> from grampus.describe import Cluster, Term
    >>> card = Cluster(0, 3, "whale", (Term("whale", 0.4),), (), (), (0,), (2,), (), 0.3, 1, 0.2)
    >>> card.name, card.stability is None
    ('whale', True)
    """

    number: int
    size: int
    name: str
    terms: tuple[Term, ...]
    describing: tuple[Term, ...]
    phrases: tuple[Term, ...]
    central: tuple[int, ...]
    borderline: tuple[int, ...]
    outliers: tuple[int, ...]
    cohesion: float
    nearest: int
    separation: float
    stability: float | None = None
    sentence: str = ""
    alike: float | None = None
    mixed: bool = False
    name_share: float | None = None
    centre_share: float | None = None
    words: tuple[str, ...] = ()

    @property
    def has_weak_name(self) -> bool:
        """Whether the name says little: it finds less than half of the documents that the centre finds."""
        return self.name_share is not None and 2 * self.name_share < (self.centre_share or 0.0)
