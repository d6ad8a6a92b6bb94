"""Cleaning: what is dropped from texts before they are counted, and what must stay."""

import base64
import binascii
import html
import random
import re

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.errors import InputError
from grampus.text import Cleaning, Corpus, Terms, TermVectorizer
from grampus.text.clean import Cleaner, Dropped
from grampus.text.clean.cleaning import STEPS, _wanted
from grampus.text.clean.mail import drop_addresses

CLEAN = Cleaner()
POST = """From: joe@sea.example (Joe)
Subject: Re: Whale songs
Organization: University of the
\tSea
Lines: 12

In article <1@sea.example> ann@air.example (Ann) writes:
> Whales sing at night.

So they do; see http://sea.example/song.html or ask ann@air.example.
--
Joe, joe@sea.example
"""


def words(text):
    return text.split()


def test_a_news_post_keeps_its_subject_its_quotation_and_its_text():
    cleaned = CLEAN(POST)
    for kept in ("Whale songs", "Whales sing at night", "So they do"):
        assert kept in cleaned
    for gone in ("joe", "Organization", "Sea", "writes", "example", "Lines"):
        assert gone not in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "Title: On whales\nAuthor: Ann\n\nWhales sing.",  # two fields, none of mail
        "Note: whales sing",
        "Subject: one field is no header\n\nWhales sing.",
        "Whales: they sing\nFrom: the sea\nand so on",
        "<U> rose, <DD.N> and <IBM> fell; a < b > c",  # companies
        "List<String> and Map<K, V> in Java",
        "AT&T; R&D; black & white",
        "begin the song\nand end it",
        "a -- b\n---\nc",
        "She writes: whales sing.",
        "He wrote:\nwhales sing",  # who wrote is not said
        "see user@ and @ann and a@b",
        "gt lt",
        ".SH is a request",
        "Wow![1] a[0][1] | b | c |d|... see :alt: here, and so on .. then :: stop",
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert CLEAN(text) == text


def test_headers_of_a_message_in_an_mbox():
    text = "From joe Mon Jan  1 00:00:00 2024\nFrom: joe@sea.example\nSubject: Song\nDate: today\n\nWhales sing."
    assert words(CLEAN(text)) == ["Song", "Whales", "sing."]


def test_a_text_that_is_nothing_but_a_header_stays():
    text = "From: joe@sea.example\nLines: 0\n\n"
    assert CLEAN(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '<p class="x">whales <b>sing</b><br>&nbsp;loudly</p>',
        html.escape('<p class="x">whales <b>sing</b> <br/> loudly</p>'),
        html.escape(html.escape("<p>whales sing</p> loudly")),
        "<!-- a comment --><div>whales</div> sing<script>let x = '<b>';</script> loudly",
        "whales lt b gt sing lt href http sea example song html gt loudly lt gt",
        "whales sing quot; loudly quot; #39; quot nbsp",
        "lt font face verdana size color gt whales lt strong gt sing lt strong gt loudly lt br gt",
    ],
)
def test_markup_goes(text):
    assert words(CLEAN(text)) == ["whales", "sing", "loudly"]


def test_of_a_whole_page_the_main_text_is_left():
    head = "<!DOCTYPE html>\n<html><head><title>Sea</title></head>"
    page = f"{head}<body><nav><a href='/'>Home</a></nav><p>whales sing</p></body>"
    assert words(CLEAN(page)) == ["whales", "sing"]
    assert words(CLEAN("<html> is the first tag of a page <p class='x'>")) != []


def test_companies_between_the_remains_of_brackets_stay():
    assert words(CLEAN("gateway lt gtw gt sells")) == ["gateway", "gtw", "sells"]


def test_entities_become_their_characters():
    assert CLEAN("Pap&#233; &amp; S&atilde;o") == "Papé & São"


def test_attachments_go():
    data = random.Random(0).randbytes(600)
    uu = "".join(binascii.b2a_uu(data[at : at + 45], backtick=True).decode() for at in range(0, len(data), 45))
    for block in (f"begin 644 x.bin\n{uu}`\nend\n", base64.encodebytes(data).decode()):
        assert words(CLEAN(f"whales sing\n{block}\nin the sea")) == ["whales", "sing", "in", "the", "sea"]


def test_macros_inside_requests_of_mdoc_are_dropped():
    page = ".Dd May 1\n.Dt WHALE 1\n.Os\n.Sh NAME\n.Nm whale\n.It Fl w Ar width , Xr sing 1\nFl stays in a text.\n"
    assert " ".join(CLEAN(page).split()) == "NAME whale w width , sing 1 Fl stays in a text."


def test_the_source_of_a_manual_page():
    page = '.\\" a comment\n.TH WHALE 1 "2024"\n.SH NAME\n\\fBwhale\\fR \\- sing\n.ig\nhidden\n..\n.PP\nLoudly.\n'
    assert words(CLEAN(page)) == ["NAME", "whale", "-", "sing", "Loudly."]


def test_macros_of_a_manual_page_and_their_definitions_go():
    page = """.de URL
<\\\\$1>
..
.als MTO URL
.if \\n[.g] \\{\\
.  am MTO
.    ad l
.  .
.  LINKSTYLE blue R < >
.\\}
.TH WHALE 1
.nh
.SH NAME
whale
.INDENT 3
sings
.UNINDENT
.MTO ann\\(atsea.example "Ann" ,
.UR http://sea.example
.UE .
.%A Joe
"""
    assert words(CLEAN(page)) == ["NAME", "whale", "3", "sings", '"Ann"', ",", ".", "Joe"]


@pytest.mark.parametrize(
    "text",
    [
        "[![Coverage Status](https://x.example/a.svg)](https://x.example)\n![logo][logo]\nwhales [sing] loudly",
        "[![Tests][tests-badge]][tests]\nwhales [sing] loudly\n[tests]: https://x.example",
        "|docs| |tests|_\n\n.. |docs| image:: https://x.example/a.svg\n   :alt: Coverage Status\n"
        ".. _tests: https://x.example\n\nwhales [sing] loudly",
        ".. figure:: whale.png\n:alt: Status\n:target: https://x.example\n\nwhales [sing] loudly",
        "<!-- badges -->whales [sing] loudly",
    ],
)
def test_badges_go(text):
    assert words(CLEAN(text)) == ["whales", "[sing]", "loudly"]


def test_lines_that_many_share_go_and_copies_do_not_make_them_many():
    notice = "All rights reserved by the sea."
    pages = [f"whale number {n} sings\n{notice}" for n in range(30)]
    cleaner = Cleaning().learn(pages)
    assert cleaner.shared == {notice}
    assert cleaner(pages[3]).strip() == "whale number 3 sings"
    assert cleaner(notice) == notice  # nothing else would be left
    assert cleaner(f"{notice}\nwhales sing") == f"{notice}\nwhales sing"  # a title
    assert not Cleaning().learn([pages[0]] * 30).shared
    assert not Cleaning(lines=False).learn(pages).shared


def test_shared_lines_do_not_depend_on_the_order_of_a_large_collection():
    rng = random.Random(0)
    pages = [f"whale {rng.random()}\n{'All rights reserved.' if n % 4 else 'Some rights.'}" for n in range(6000)]
    shuffled = rng.sample(pages, len(pages))
    assert (
        Cleaning().learn(pages).shared == Cleaning().learn(shuffled).shared == {"All rights reserved.", "Some rights."}
    )


@pytest.mark.parametrize("part", ["headers", "signatures", "addresses"])
def test_each_part_can_be_switched_off(part):
    kept = {"headers": "Organization", "signatures": "Joe,", "addresses": "http://sea.example/song.html"}
    cleaned = Cleaner(Cleaning(**{part: False}))(POST)
    for name, text in kept.items():
        assert (text in cleaned) == (name == part)


SIGNS = (
    *"\n:-<&;@[]!. \t\u00a0\u2003\udc80é",
    *(" gt", "quot", "nbsp", "www.", "whale ", "lt ", "lt br gt", "a", "b ", "From", "//", "http", "http://a"),
    "ß" * 30,
    *("begin 644 x\n", "\nM" + "!" * 60 + "\n", "\n" + "Ab9+" * 15, "\nend", "-----BEGIN PGP ", "MESSAGE-----\n"),
    *("\n.SH", "\n.Sh A\n", ".TH X", "\\fB", "#39;", "quot;", "&amp;", "<b>", "</b>", "<br>", "<!--", "-->", "<?xml >"),
    *("<html>", "In article ", "@a.b writes:", "\n--\n", "\n-- \n", "![", "](x)", "[a]: http://b\n", ".. image:: a\n"),
    *("|a|", "a@b.org", "wWw.a", "WWW.", "From a\n", "From: a\n", "Subject: b\n", "Date: c\n\n"),
)  # fmt: skip


def test_a_step_that_is_left_out_would_change_nothing():
    rng = random.Random(0)
    every = (1 << len(STEPS)) - 1
    left_out = [0] * len(STEPS)
    for turn in range(20_000):
        text = "".join(rng.choices(SIGNS, k=1 + turn % 9))
        wanted = _wanted(text, every)
        for place, (_, _, step) in enumerate(STEPS):
            if not wanted >> place & 1:
                left_out[place] += 1
                dropped = []
                assert step(text, dropped) == text, (place, text)
                assert not dropped
    assert min(left_out) > 1000


def test_cleaning_is_every_step_in_turn():
    rng = random.Random(1)
    cleaner = Cleaner(Cleaning())
    for turn in range(10_000):
        text = cleaned = "".join(rng.choices(SIGNS, k=4 + turn % 30))
        dropped = []
        for _, _, step in STEPS:
            cleaned = step(cleaned, dropped)
        kept = cleaned if dropped and re.search(r"[^\W_]", cleaned) else text
        assert cleaner(text) == kept


def test_addresses_of_the_web_are_those_of_one_pattern():
    schemes = "https?|ftps?|file|gopher|telnet|news|nntp|mailto|git|ssh"
    whole = re.compile(rf"(?:(?:{schemes})://|www\.)[^\s<>\"）」]+", re.IGNORECASE)
    pieces = (*':/w.a <>"）\n', "http", "HTTPS", "nntp", "ftps", "mailto", "newſ", "fıle", "://", "://", "www.", "wWw.")
    rng = random.Random(0)
    for _ in range(3000):
        text, found = "://" + "".join(rng.choices(pieces, k=10)), []
        assert drop_addresses(text, found) == whole.sub(" ", text)
        assert found == whole.findall(text)


def test_what_was_dropped_is_counted():
    report = Dropped(examples={})
    CLEAN(POST, report)
    assert report.pieces["addresses"] == 2
    assert report.examples["addresses"] == {"http://sea.example/song.html": 1, "ann@air.example": 1}
    assert report.note().startswith("Not counted: 1 mail header (1 document), 1 signature")


@pytest.mark.parametrize("size", [200_000])
@pytest.mark.parametrize(
    "piece",
    [
        "<a ", "&", "@", "a@b.", "From: x\n", "<!--", "<script>", ".ig\n", "> ", "begin 644 x\n", "--\n", "lt href ",
        ".SH\n", "\\f", ":", "[![", "![a](", ".. |", ".. a::\n:", "|a",
    ],
)  # fmt: skip
def test_hostile_texts_take_linear_time(piece, size):
    text = piece * (size // len(piece))
    assert isinstance(CLEAN(".TH X 1\n.SH\n</b>" + text), str)
    assert isinstance(CLEAN(text), str)


def test_cleaning_is_part_of_the_terms():
    plain, cleaned = Terms(), Terms(clean=True)
    plain.fit([POST])
    cleaned.fit([POST])
    assert {"line", "joe"} <= set(plain.vocabulary_)
    assert not {"line", "joe"} & set(cleaned.vocabulary_)
    assert {"whale", "song", "night"} <= set(cleaned.vocabulary_)


def test_new_documents_lose_the_lines_that_the_fitted_ones_share():
    pages = [f"whale{n} sings\nAll rights reserved." for n in range(20)]
    vectorizer = TermVectorizer("txx", clean=True).fit(pages)
    assert "reserv" not in vectorizer.vocabulary_
    assert vectorizer.transform(["whale3\nAll rights reserved."]).nnz == 1


def test_a_wrong_value_of_clean():
    with pytest.raises(InputError, match=r"clean must be True, False or a Cleaning; got 'yes'"):
        Terms(clean="yes").fit(["whale"])


def test_a_clusterer_cleans_notes_it_and_keeps_the_text():
    posts = [POST.replace("Whale", kind).replace("Whales", kind) for kind in ("Whale", "Bird")] * 6
    posts = [f"{post}\nnumber {n}" for n, post in enumerate(posts)]
    run = DocumentClusterer(2).fit(Corpus(posts)).run_
    assert any(note.startswith("Not counted: 12 mail headers") for note in run.evidence.warnings)
    assert run.documents.texts[0] == posts[0]
    assert "example" not in " ".join(term.text for cluster in run.evidence.clusters for term in cluster.terms)


def test_a_saved_run_cleans_new_documents_as_it_did(tmp_path):
    pages = [f"{kind} number {n} sings\nAll rights reserved." for n in range(12) for kind in ("whale sea", "bird air")]
    model = DocumentClusterer(2).fit(pages)
    model.save(tmp_path / "run")
    again = DocumentClusterer.load(tmp_path / "run")
    new = ["whale sea\nAll rights reserved.", "bird air\nAll rights reserved."]
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    assert again.terms.preparation_ == model.predictor_.vectorizer.preparation_
    assert again.terms.preparation_.shared == {"All rights reserved."}
