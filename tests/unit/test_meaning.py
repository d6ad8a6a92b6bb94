"""Meaning next to words: the opening of a document."""

from __future__ import annotations

import pytest

from grampus.text import Cleaning, Corpus
from grampus.text.clean import Cleaner
from grampus.text.meaning.opening import WORDS, opening, openings

CLEANER = Cleaner(Cleaning())


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("Whales sing.", "", "Whales sing."),
        ("", "At sea", "At sea"),
        ("  ", "", ""),
        ("Whales sing.", "At sea", "At sea Whales sing."),
        ("At  sea\nwhales sing.", "At sea", "At sea whales sing."),
        ("鯨は歌う", "海", "海 鯨は歌う"),
    ],
)
def test_an_opening_is_the_title_and_the_first_words(text, title, expected):
    assert opening(text, title) == expected


def test_an_opening_has_48_words_or_as_many_characters_where_there_are_no_spaces():
    words = [f"word{number}" for number in range(100)]
    assert opening("\n ".join(words)) == " ".join(words[:WORDS])
    assert opening(" ".join(words), " ".join(words[50:])) == " ".join([*words[50:98], *words[:WORDS]])
    assert opening("鯨" * 100) == "鯨" * WORDS
    assert opening("x" * 10_000_000) == "x" * 2000
    assert opening("a 鯨 b 鯨 " * 30).split() == ["a", "鯨", "b", "鯨"] * 12


def test_an_opening_is_cleaned_wherever_it_begins():
    mail = "From: w@sea.org\nSubject: Song\n\nWhales sing."
    assert opening(mail, cleaner=CLEANER) == "Song Whales sing."
    assert opening(mail) == "From: w@sea.org Subject: Song Whales sing."
    late = "<b></b>" * 5000 + "Whales sing."
    assert opening(late, cleaner=CLEANER) == "Whales sing."


def test_the_openings_of_a_corpus_have_its_titles():
    corpus = Corpus(["sing", "nest"], titles=["whales", ""])
    assert openings(corpus, None) == ["whales sing", "nest"]
    assert openings(Corpus(["<i>sing</i>"]), Cleaning()) == ["sing"]
