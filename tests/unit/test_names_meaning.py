"""Names by meaning: the word that says it, whole phrases, no persons, no twins."""

import re
from dataclasses import replace

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer
from grampus.describe import Cluster, Wording, name_levels, name_partition
from grampus.describe.candidates import Candidate
from grampus.describe.direction import DocumentMeaning
from grampus.describe.reading import read_words, shared_line_ends
from grampus.persist import Edit
from grampus.report.verdict import said_by_names
from grampus.text import TermVectorizer, stop_words
from grampus.text.meaning.encoder import load_encoder

STOPS = stop_words("smart")
FLAGS = [
    "The flag has bands of white and of red",
    "White is above blue, bands of the flag",
    "Its flag shows bands, equal and white",
    "Two equal stripes of white above green: a flag with bands",
    "White and equal are the bands that make the flag",
    "The bands of the flag are equal: white, red",
]
COURTS = [
    "The Supreme Court has nine judges",
    "Judges of the Supreme Court are appointed for life",
    "A Supreme Court of five judges",
    "Judges sit in the Supreme Court",
    "The Supreme Court hears appeals of judges",
    "Lower judges and the Supreme Court",
]
BOTH = [0] * 6 + [1] * 6


def wording(texts, meaning=True):
    terms = TermVectorizer()
    weights = terms.fit_transform(texts)
    encode = load_encoder().encode
    known = DocumentMeaning(encode(texts), encode, np.ones(len(texts))) if meaning else None
    return Wording(weights, terms.get_feature_names_out(), texts, terms.forms_, STOPS, meaning=known)


def names(texts, labels, meaning=True):
    return [", ".join((name.name, *name.words)) for name in name_partition(wording(texts, meaning), labels)]


def test_the_title_is_the_word_that_says_it():
    assert [name.split(", ")[0] for name in names(FLAGS + COURTS, BOTH)] == ["Flag", "Supreme Court"]


def test_words_are_compared_with_each_other_rather_than_with_documents():
    # Every word is unlike the long texts in the third direction, and thus far from the first group.
    rows = {"whale": [0.2, 0.0, -1.0], "bird": [0.0, 0.2, -1.0]}
    documents = np.array([[0.1, 0.0, 1.0], [0.0, 0.1, 0.9]])
    meaning = DocumentMeaning(documents, lambda texts: [*map(rows.get, texts)], np.ones(2))
    near = meaning.closeness(["whale", "bird"], meaning.directions(np.array([0, 1]), np.eye(2, dtype=bool)))
    assert near.argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("meaning", [True, False])
def test_a_phrase_is_never_torn(meaning):
    name = names(FLAGS + COURTS, BOTH, meaning)[1]
    assert "Supreme Court" in name
    assert not {"Supreme", "Court"} & set(name.split(", "))


def is_torn(known, sample, one, other, group):
    some = (Candidate(1.0, text, (known.stem(text.lower()),)) for text in (one, other))
    return sample.is_torn(*some, np.array(group))


def test_words_that_stand_together_are_not_named_apart():
    known = wording(FLAGS + COURTS)
    sample = known.sample(np.array(BOTH), 2)
    assert is_torn(known, sample, "Supreme", "Court", [False, True])
    assert not is_torn(known, sample, "white", "flag", [True, False])


def test_documents_that_were_not_read_count_as_well():
    texts = [f"a whale sang song {n}" for n in range(40)]
    for at in (1, 4, 7):
        texts[at] += ", seen from Paris, France"
    texts[9] += ": in Paris one speaks of France"
    known = wording(texts, meaning=False)
    sample = known.sample(np.zeros(40, dtype=int), 1, 1)
    assert not {1, 4, 7, 9} & set(sample.rows.tolist())
    assert is_torn(known, sample, "Paris", "France", [True])
    assert not is_torn(known, sample, "whale", "Paris", [True])


def test_neighbours_are_found_without_blanks():
    known = wording(["東京都の話", "東京都"] * 3, meaning=False)
    known = replace(known, segment=lambda text: re.findall("東京|都|話", text))
    sample = known.sample(np.zeros(6, dtype=int), 1)
    assert is_torn(known, sample, "東京", "都", [True])
    assert is_torn(known, sample, "都", "話", [True])  # a particle stands between them
    assert not is_torn(known, sample, "東京", "話", [True])


@pytest.mark.parametrize(("mentions", "named"), [(2, False), (6, True)])
def test_a_person_is_named_where_the_group_is_about_them(mentions, named):
    about = [f"The senate vote went on and on, {word}" for word in ("first", "again", "early", "late", "today", "now")]
    about = [f"{text}, said Roger Miller" if at < mentions else text for at, text in enumerate(about)]
    assert ("Miller" in names(about + FLAGS, BOTH)[0]) == named


def test_siblings_share_no_title_and_parts_differ_from_their_parent():
    whales = [
        f"The whale {word} in the sea" for word in ("sings", "sang", "song", "sings well", "sang again", "sings on")
    ]
    seals = [f"The seal {word} by the sea" for word in ("fur", "furs", "fur coat", "fur trade", "furry", "fur hat")]
    coarse, fine = name_levels(wording(whales + seals + FLAGS), [[0] * 12 + [1] * 6, [0] * 6 + [1] * 6 + [2] * 6])
    titles = [name.name for name in fine]
    assert len(set(titles)) == 3
    assert coarse[0].name not in titles


def test_headings_of_a_genre_are_shared_lines():
    pages = [f"SYNOPSIS\nwhale {n}\nflag {n}" for n in range(40)]
    assert shared_line_ends(pages) == {"SYNOPSIS"}
    assert shared_line_ends([*pages[:4], *(f"bird {n}\nnest" for n in range(100))]) == {"nest"}


def test_lines_that_load_other_programs_are_not_read():
    loads = "from ctypes import *\n import numpy as np\nimport java.util.List;\n#include <stdio.h>\n"
    found = read_words([loads + "    >>> from transformers import AutoTokenizer, Seal\n>>> import os\nwhale"])
    assert [found.words[number] for number in found.word] == ["whale"]
    found = read_words(["int open(const char *file) opens a file, unsigned or void"])
    assert [found.words[number] for number in found.word] == ["open", "file", "opens", "a", "file", "or"]
    said = "from Paris the import\nimport duties rose\nthe import of wine"
    assert not len(read_words([said]).hidden_word)


def test_who_made_a_text_is_not_read():
    named = "Ann Lee  ,\nJoe Doe  \n -- Eve Poe    Fri, 15 May 2026\n(C) 2013 Max Roe, ACME\n"
    found = read_words([named + "Blue Whale  sings\nLong Song.  End"])
    shown = [found.words[number] for number in found.word]
    assert " ".join(shown) == "Fri 15 May 2026 Blue Whale sings Long Song End"


@pytest.mark.parametrize("meaning", [True, False])
def test_a_noun_is_a_better_title_than_a_verb(meaning):
    sea = ["The whale and the sea", "A whale in the sea", "The sea of the whale", "Whale of the sea"]
    texts = ["I want to activate my card", "To activate a card", "You activate this card", "How to activate the card"]
    first = name_partition(wording(texts + sea, meaning), [0] * 4 + [1] * 4)[0]
    assert (first.name, first.words[:1]) == ("Card", ("activate",))


def test_names_are_the_same_for_any_number_of_threads():
    found = set()
    for threads in (1, 2, 4):
        with grampus.config(threads=threads):
            found.add(tuple(names(FLAGS + COURTS, BOTH)))
    assert len(found) == 1


def test_a_run_that_compares_meaning_is_named_by_it():
    run = DocumentClusterer(2, random_state=0).fit(FLAGS + COURTS).run_
    assert "embedding" in run.provenance.kernel
    assert {one.name for one in run.evidence.clusters} == {"Flag", "Supreme Court"}
    assert [(one.name_share, one.centre_share, one.has_weak_name) for one in run.evidence.clusters] == [
        (1, 1, False)
    ] * 2
    assert said_by_names(run)[0].text == (
        "The names fit well: by its name alone, 100% of the documents would be put in the right cluster "
        "(100% by its centre)."
    )
    renamed = run.edited(Edit("rename", (0,), name="Whales"))
    assert renamed.evidence.clusters[0].name_share is None
    assert said_by_names(renamed) == []


def test_a_name_that_says_something_else_is_weak():
    known = wording(FLAGS + COURTS).meaning
    by_name, by_centre = known.recognised(np.array(BOTH), ["Judges", "Flag"])
    assert by_name.max() < 0.5
    assert by_centre.tolist() == [1.0, 1.0]
    card = Cluster(0, 6, "Judges", (), (), (), (), (), (), 0.0, -1, 0.0, name_share=0.4, centre_share=1.0)
    assert card.has_weak_name
    assert not replace(card, name_share=None).has_weak_name


def test_a_group_of_several_languages_is_named_in_the_most_frequent_one():
    german = ["Der Oberste Gerichtshof hat neun Richter", "Richter am Gerichtshof", "Der Gerichtshof und seine Richter"]
    texts = [*COURTS, *german, *FLAGS]
    labels, language = [0] * 9 + [1] * 6, np.array([0] * 6 + [1] * 3 + [0] * 6)
    mixed = name_partition(wording(texts), labels)
    spoken = name_partition(replace(wording(texts), language=language), labels)
    german_first = name_partition(replace(wording(texts), language=1 - language), [0] * 6 + [2] * 3 + [1] * 6)
    assert spoken[0].name == "Supreme Court"
    assert "Richter" in (german_first[2].name, *german_first[2].words)
    assert not {"Richter", "Gerichtshof"} & {spoken[0].name, *spoken[0].words}
    assert len(mixed) == 2


def test_the_clusterer_names_a_mixed_group_in_its_language():
    courts = [f"The judges of the Supreme Court have decided the case of the state and the law {n}" for n in range(8)]
    other = [f"Die Richter am Gerichtshof haben den Fall und das Recht des Staates entschieden {n}" for n in range(5)]
    flags = [f"The flag of the country has bands of white and of red, and a star in the corner {n}" for n in range(9)]
    run = DocumentClusterer(2).fit([*courts, *other, *flags]).run_
    assert len(set(run.evidence.labels[:13].tolist())) == 1
    cluster = run.evidence.clusters[run.evidence.labels[0]]
    assert not {"Richter", "Gerichtshof", "Recht", "Fall"} & {cluster.name, *cluster.words}


def test_persons_are_known_in_texts_without_capitals():
    said = ["james baker", "mary baker", "john baker", "paul baker", "lisa baker", "anna baker"]
    texts = [f"the senate vote went on and on, {who} said on {n}" for n, who in enumerate(said)]
    texts = [*texts[:2], *(text.partition(",")[0] for text in texts[2:]), *(flag.lower() for flag in FLAGS)]
    assert "baker" not in names(texts, BOTH)[0].lower()


def test_identifiers_of_programs_name_nothing():
    code = [f"def setUpModule(): raise unittest error {n}\nelif isinstance(args): unittest of error" for n in range(6)]
    assert not {"setUpModule", "def", "Def", "elif", "args"} & set(
        names(code + FLAGS, BOTH)[0].replace(",", "").split()
    )
    assert read_words(["An iPhone by McGregor in LaTeX"]).hidden_word.tolist() == []


def test_a_person_is_better_than_no_name():
    texts = [
        "james baker",
        "james baker again",
        "so james baker",
        "he",
        "they",
        "and so on",
        *(f.lower() for f in FLAGS),
    ]
    assert "baker" in names(texts, BOTH)[0].lower()
