"""What people stumbled over who tried the library for the first time: each case as they met it."""

import csv
import gzip
import io
import random
from pathlib import Path

import numpy as np
import pytest

from grampus import (
    PDDP,
    BisectingKernelKMeans,
    DocumentClusterer,
    KernelKMeans,
    KernelPCAKMeans,
    SpectralKMeans,
)
from grampus._workbook import parquet_bytes, xlsx_bytes
from grampus.errors import CorpusError, InputError
from grampus.text import Cleaning, ReadOptions, TermVectorizer, read_corpus
from grampus.text.clean.markup import drop_troff
from grampus.text.meaning.encoder import encoder_digest
from grampus.text.readers import pdf
from grampus.text.terms.prepare import languages_of
from tests import samples

ANSWERS = ["More time for reviews", "Money for open access", "Training in statistics", "Shared data"]


@pytest.mark.parametrize(
    ("written", "letters"),
    [
        (r"contr\(^ole install\('es", "contrôle installés"),
        (r"k\(:onnten, ma\(ss, fran\(,cais, na\[:i]ve", "könnten, maß, français, naïve"),
        (r"v\[u00E9]rifie u\[u0061_0308]ber \[u017E]e \[char233]t\['e]", "vérifie uäber že été"),
        (r"g\(oar \(OEuvre \(/l\(/L \(vs", "går Œuvre łŁ š"),
        (r"coe\(Ficient \*(Aqquoted\*(Aq \fBbold\fR a\-b", "coefficient 'quoted' bold a-b"),
        (r"\[u110000]\(zz\(bu\[shc]", ""),
    ],
)
def test_letters_of_manual_pages_stay(written, letters):
    page = f".TH A 1\n.SH NOM\n{written}\n"
    assert drop_troff(page, []).strip().split("\n")[-1] == (letters or "NOM")
    assert letters in Cleaning().learn([page])(page)


@pytest.mark.skipif(pdf.find_spec("pypdfium2") is None, reason="needs pypdfium2")
def test_ligatures_of_latex_are_letters(tmp_path, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(samples.pdf(["Roundoff"]))
    page = "Roundo\x1b error, coe\x1ecients of the \x1crst \x1dow, wa\x1fe, \ufb01nal \x1b 2\x1c3"
    monkeypatch.setattr(pdf.PdfWorker, "read", lambda *_: iter([{"text": page}]))
    (text,) = read_corpus(tmp_path / "a.pdf", options=ReadOptions(split="file")).texts
    assert text.startswith("Roundoff error, coefficients of the first flow, waffle, final ")


@pytest.mark.skipif(pdf.find_spec("pypdfium2") is None, reason="needs pypdfium2")
def test_a_compressed_pdf_is_read_in_a_folder(tmp_path):
    (tmp_path / "a.pdf.gz").write_bytes(gzip.compress(samples.pdf(["Whales sing."])))
    assert list(read_corpus(tmp_path).texts) == ["Whales sing."]


def title_csv(delimiter=",", title="Survey of open science 2020", blank=""):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow([title, "", ""])
    out.write(blank)
    writer.writerow(["Respondent", "Country", "What would help you?"])
    writer.writerows([number, "DE", answer] for number, answer in enumerate(ANSWERS))
    return out.getvalue()


@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
@pytest.mark.parametrize(
    "written", [title_csv(), title_csv(";"), title_csv(blank="\n"), title_csv().replace("2020,,", "2020")]
)
def test_a_title_above_a_table_is_not_its_header(tmp_path, written):
    Path(tmp_path, "a.csv").write_text(written)
    corpus = read_corpus(tmp_path / "a.csv", label="country")
    assert list(corpus.texts) == ANSWERS
    assert list(corpus.labels) == ["DE"] * 4
    assert any("a title above the names of the columns was left out: Survey of open" in note for note in corpus.notes)


@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
def test_a_title_above_a_spreadsheet_is_not_its_header(tmp_path):
    rows = [["Survey 2020 (all answers)"], ["Country", "What would help you?"], *(["DE", one] for one in ANSWERS)]
    Path(tmp_path, "a.xlsx").write_bytes(samples.xlsx({"S": rows}))
    assert list(read_corpus(tmp_path / "a.xlsx").texts) == ANSWERS


@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
@pytest.mark.parametrize(
    "written",
    [
        ",text\n0,whale song\n1,bird song\n",  # as pandas writes an index
        "text of the answer\nwhale song\nbird song\n",
        "text,note of mine\nwhale song,\nbird song,x\n",
    ],
)
def test_a_header_stays_a_header(tmp_path, written):
    Path(tmp_path, "a.csv").write_text(written)
    assert list(read_corpus(tmp_path / "a.csv").texts) == ["whale song", "bird song"]


def test_a_quoted_text_keeps_its_blank_lines(tmp_path):
    Path(tmp_path, "a.csv").write_text('\ntext,id\n"whale\n\nsong",1\nbird,2\n')
    assert list(read_corpus(tmp_path / "a.csv").texts) == ["whale\n\nsong", "bird"]


def test_a_word_of_a_columns_name_finds_it(tmp_path):
    path = Path(tmp_path, "a.csv")
    path.write_text("Complaint ID,Consumer complaint narrative\n1,whale song\n2,bird song\n")
    corpus = read_corpus(path, text="narrative")
    assert list(corpus.texts) == ["whale song", "bird song"]
    assert corpus.notes == ("'narrative' is the column 'Consumer complaint narrative'.",)
    for name in ("complaint", "narr"):  # two columns hold the first, none the second as a word
        with pytest.raises(CorpusError, match="its columns are: Complaint ID, Consumer complaint narrative"):
            read_corpus(path, text=name)


def test_a_last_quote_that_is_not_closed_can_be_skipped(tmp_path):
    path = Path(tmp_path, "a.csv")
    path.write_text('id,text\n1,"whale song"\n2,"bird song\n')
    with pytest.raises(CorpusError, match="line 3 opens a quote that is not closed before the end of the file; on_err"):
        read_corpus(path)
    corpus = read_corpus(path, options=ReadOptions(on_error="skip"))
    assert list(corpus.texts) == ["whale song"]
    assert corpus.skipped == {"a quote that is never closed (1 line)": 1}


@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
def test_bytes_that_are_no_text_are_left_out(tmp_path):
    draw = random.Random(7)
    noise = bytes(draw.randrange(1, 256) for _ in range(3000))  # no zero byte gives it away
    Path(tmp_path, "a.txt").write_text("whale song")
    Path(tmp_path, "b.txt").write_bytes(noise)
    Path(tmp_path, "c.txt").write_text("one\x01two\x1ethree\x1ffour " * 20)  # separators, as in exports
    corpus = read_corpus(tmp_path)
    assert list(corpus.ids) == ["a.txt", "c.txt"]
    assert corpus.skipped == {"not text (binary)": 1}
    assert [file.path for file in corpus.files if file.reason] == ["b.txt"]
    with pytest.raises(CorpusError, match=r"b\.txt must be text; it looks like binary data"):
        read_corpus(tmp_path / "b.txt")


def test_an_empty_folder_is_refused_in_plain_words(tmp_path):
    with pytest.raises(CorpusError, match=r"^There are no documents in the folder .*\.$"):
        read_corpus(tmp_path)


HEADER = ["id", "cluster", "name", "words", "margin", "second"]
ROW = ["a", 0, "Whales", "whale, sea", 0.5, 1]


def test_tables_of_results_are_left_out_of_a_pile(tmp_path):
    from grampus._rows import csv_text, jsonl_text

    pytest.importorskip("pyarrow")
    Path(tmp_path, "a.txt").write_text("whale song")
    Path(tmp_path, "any.csv").write_text(csv_text(HEADER, [ROW], lossless=False))
    Path(tmp_path, "any.jsonl").write_text(jsonl_text(HEADER, [ROW]))
    Path(tmp_path, "any.xlsx").write_bytes(xlsx_bytes(HEADER, [ROW]))
    Path(tmp_path, "any.parquet").write_bytes(parquet_bytes(HEADER, [ROW]))
    corpus = read_corpus(tmp_path)
    assert list(corpus.ids) == ["a.txt"]
    assert corpus.notes == ("what Grampus wrote earlier was left out: any.csv, any.jsonl, any.parquet and 1 more.",)


def test_two_words_of_arabic_are_not_english():
    terms = TermVectorizer(stop_words="auto", stemmer="auto")
    prepared = terms.prepare(["سيارة جديدة", "كرة القدم", "طعام لذيذ", "بيت كبير"])
    assert prepared.counts() == {"ar": 4}


def test_nonsense_is_in_no_language():
    draw = random.Random(0)
    syllables = [a + b for a in "bcdfghjklmnprstvz" for b in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(400)]
    texts = [" ".join(draw.choices(words, k=40)) for _ in range(300)]
    prepared = TermVectorizer(stop_words="auto", stemmer="auto").prepare(texts)
    assert prepared.counts() == {"en": 300}
    assert prepared.unknown > 280
    assert prepared.notes() == []
    assert languages_of({"": 990, "lt": 4, "ro": 3, "sk": 3}, 1000) == ("en",)
    assert languages_of({"": 990, "lt": 10}, 1000) == ("lt",)


@pytest.mark.parametrize("name", ["de", "german", "German"])
def test_a_language_may_be_named_or_coded(name):
    terms = TermVectorizer(stop_words=name, stemmer=name)
    assert terms.fit(["der Wal singt", "das Lied ist laut"]).get_feature_names_out().tolist() == [
        "laut", "lied", "singt", "wal",
    ]  # fmt: skip


@pytest.mark.parametrize("parameter", ["stemmer", "stop_words"])
def test_a_language_that_is_misspelt_is_asked_for(parameter):
    with pytest.raises(InputError, match="Did you mean 'english'"):
        TermVectorizer(**{parameter: "englsh"}).fit(["whale song"])


def test_one_piece_is_one_piece():
    from grampus.text.clean import Dropped
    from grampus.text.clean.cleaning import SHARED, SINGULAR, STEPS

    assert set(SINGULAR) == {SHARED, *(kind for _, kind, _ in STEPS)}
    found = Dropped()
    found.add("mail headers", ["From: a"])
    assert found.note() == "Not counted: 1 mail header (1 document)."


@pytest.mark.parametrize("changed", [1, 4])
def test_thirty_texts_in_eight_versions_are_thirty_groups(changed):
    draw = random.Random(0)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = ["".join(draw.choices(syllables, k=3)) for _ in range(900)]
    texts = []
    for text in [draw.choices(words, k=40) for _ in range(30)]:
        for _ in range(8):
            version = list(text)
            for place in draw.sample(range(40), changed):
                version[place] = draw.choice(words)
            texts.append(" ".join(version))
    model = DocumentClusterer(embed=None).fit(texts)
    assert model.n_clusters_ == 30
    assert all(len(set(model.labels_[start : start + 8])) == 1 for start in range(0, 240, 8))


def test_answers_that_differ_by_numbers_alone_are_two_groups():
    """By words these are two texts, forty times each: groups if asked for two; their meaning shows them unasked."""
    texts = [f"The service was good but the waiting time too long {i}" for i in range(40)]
    texts += [f"The food tastes great and prices are fair {i}" for i in range(40)]
    two_groups = ([0] * 40 + [1] * 40, [1] * 40 + [0] * 40)
    assert DocumentClusterer(2, embed=None).fit(texts).labels_.tolist() in two_groups
    assert "2 different" in DocumentClusterer(embed=None).fit(texts).choice_.verdict
    if encoder_digest() is not None:
        assert DocumentClusterer().fit(texts).labels_.tolist() in two_groups


def test_a_footer_of_half_the_documents_names_no_cluster():
    draw = random.Random(0)
    topics = [
        "whale ocean ship wave harbour sailor fish tide coral reef",
        "bird nest feather wing egg flight cloud wind",
    ]
    feet = ["document management system version four", "for questions contact the service desk"]
    texts = [f"{' '.join(draw.choices(topics[n % 2].split(), k=30))}\n{feet[n // 2 % 2]}" for n in range(120)]
    model = DocumentClusterer(2, embed=None).fit(texts)
    said = {word for one in model.clusters_ for word in " ".join((one.name, *one.words)).casefold().split()}
    assert said <= set(" ".join(topics).split())


def test_a_generator_of_texts_is_taken_wherever_a_list_is():
    texts = [f"whales sing song {i} in the sea" for i in range(20)] + [f"courts rule on law {i}" for i in range(20)]
    model = DocumentClusterer(2, embed=None).fit(text for text in texts)
    assert model.predict(text for text in texts[:3]).tolist() == model.predict(texts[:3]).tolist()
    assert model.transform(text for text in texts[:3]).shape == (3, 2)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
@pytest.mark.parametrize(
    "method", [BisectingKernelKMeans, DocumentClusterer, KernelKMeans, KernelPCAKMeans, PDDP, SpectralKMeans]
)
def test_numbers_that_cannot_be_multiplied_are_refused(method, factor):
    rows = np.repeat(9 * np.eye(3), 20, axis=0) + np.random.default_rng(0).uniform(size=(60, 3))
    assert len(set(method(3).fit(rows).labels_)) == 3
    with pytest.raises(InputError, match="between 1e-70 and 1e\\+70"):
        method(3).fit(rows * factor)
