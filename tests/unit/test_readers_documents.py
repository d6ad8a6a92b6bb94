"""Office documents, books, RTF, PDF and archives: what is read, and what is refused."""

import gzip
import io
import os
import stat
import sys
import tarfile
import zipfile

import pytest

from grampus.errors import CorpusError, MissingExtraError
from grampus.testing import check_reader
from grampus.text import CorpusWarning, ReadLimits, ReadOptions, read_corpus
from grampus.text.readers import READERS, pdf
from tests import samples
from tests.timing import soon

TEXTS = ["Whales sing & dive.", "Vögel fliegen – hoch."]
ROWS = [["id", "body", "kind"], ["w", "Whales sing in the sea", "sea"], ["b", "Birds sing in the air", "air"]]
NEEDS_PDF = pytest.mark.skipif(pdf.find_spec("pypdfium2") is None, reason="needs pypdfium2")
ALL = "\n\n".join(TEXTS)
EXAMPLES = {
    "docx": (lambda: samples.docx(["Whales sing."]), ["Whales sing."]),
    "pptx": (lambda: samples.pptx([("Whales", "They sing.")]), ["Whales\nThey sing."]),
    "xlsx": (lambda: samples.xlsx({"S": [["text"], ["whales"]]}), ["whales"]),
    "ods": (lambda: samples.ods([["text"], ["whales"]]), ["whales"]),
    "odt": (lambda: samples.odt(["Whales sing."]), ["Whales sing."]),
    "epub": (lambda: samples.epub(["Whales sing."]), ["Whales sing."]),
    "rtf": (lambda: samples.rtf(["Whales sing."]), ["Whales sing."]),
    "zip": (lambda: samples.zipped({"x.txt": "Whales sing."}), ["Whales sing."]),
    "tar": (lambda: samples.tarred({"x.txt": "Whales sing."}), ["Whales sing."]),
    "pdf": (lambda: samples.pdf(["Whales sing."]), ["Whales sing."]),
}


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def whole(path):
    return read_corpus(path, options=ReadOptions(split="file"))


def refusal(path, **options):
    with soon(), pytest.raises(CorpusError) as caught:
        read_corpus(path, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
def test_readers_conform(name, monkeypatch):
    if name == "pdf":
        pytest.importorskip("pypdfium2")
        monkeypatch.setattr("grampus.testing.reader._DAMAGED", 10)  # each starts a process
    make, texts = EXAMPLES[name]
    if name in ("xlsx", "ods"):  # a row as a file, the sheet in a folder
        with pytest.raises(AssertionError, match=r"read in a folder, the texts must be .*'whales'.*text\\nwhales"):
            check_reader(READERS[name], make(), texts)
    else:
        check_reader(READERS[name], make(), texts)


@pytest.mark.parametrize("kind", ["docx", "odt"])
def test_texts(tmp_path, kind):
    make = {"docx": samples.docx, "odt": samples.odt}[kind]
    path = write(tmp_path, f"x.{kind}", make(TEXTS, heading="On whales"))
    corpus = whole(path)
    assert corpus[0].text == f"On whales\n{ALL}"
    assert corpus.titles == ["On whales"]
    parts = read_corpus(path)
    assert parts.texts == [f"On whales\n{TEXTS[0]}", TEXTS[1]]
    assert "each paragraph is a document" in parts.notes[0]
    path.rename(tmp_path / "nameless")
    assert whole(tmp_path / "nameless").texts == corpus.texts


def test_word_tables_deletions_and_fallbacks(tmp_path):
    body = samples.word_body(["kept"]).replace(
        "<w:body>",
        "<w:body><w:p><w:del><w:r><w:delText>no</w:delText></w:r></w:del><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></Choice><Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></Fallback>",
    )
    corpus = whole(write(tmp_path, "x.docx", samples.docx([], title="Title &amp; more", body=body)))
    assert corpus[0].text == "one two\n\na b\n\nbox\n\nkept"
    assert (corpus[0].title, corpus[0].date) == ("Title & more", "2024-06-06T09:30:00Z")


def test_slides_and_chapters_are_pages(tmp_path):
    path = write(tmp_path, "x.pptx", samples.pptx([("Whales", "They sing."), ("Birds", "They fly.")]))
    corpus = read_corpus(path)
    assert corpus.texts == ["Whales\nThey sing.", "Birds\nThey fly."]
    assert corpus.titles == ["Whales, page 1", "Whales, page 2"]
    book = read_corpus(write(tmp_path, "x.epub", samples.epub(TEXTS, title="Animals")))
    assert book.texts == TEXTS
    assert book.titles == ["Animals, page 1", "Animals, page 2"]


def test_rtf(tmp_path):
    corpus = whole(write(tmp_path, "x.rtf", samples.rtf(TEXTS, title="Animals")))
    assert (corpus[0].text, corpus[0].title) == (ALL, "Animals")
    odd = rb"{\rtf1\ansi\uc1 caf\'e9 \u55357?\u56363? a\~b {\*\hidden no} \{x\}{\pict 0011}\line y}"
    assert whole(write(tmp_path, "y.rtf", odd))[0].text == "café 🐫 a b {x}\ny"


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_a_row_is_a_document_or_a_sheet_is(tmp_path, kind):
    make = {"xlsx": lambda rows: samples.xlsx({"S": rows}), "ods": samples.ods}[kind]
    path = write(tmp_path, f"x.{kind}", make(ROWS))
    corpus = read_corpus(path, text="body", label="kind")
    assert (list(corpus.texts), list(corpus.ids), corpus.labels) == (
        ["Whales sing in the sea", "Birds sing in the air"], ["w", "b"], ("sea", "air"),
    )  # fmt: skip
    assert whole(path).texts == ["\n".join("\t".join(row) for row in ROWS)]


def test_workbooks_have_shared_strings_dates_and_sheets(tmp_path):
    rich = "<si><r><t>Whales </t></r><r><t>sing</t></r><rPh><t>no</t></rPh></si>"
    strings = f'<sst xmlns="s"><si><t>text</t></si><si><t>when</t></si>{rich}</sst>'
    styles = '<styleSheet xmlns="s"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    body = (
        '<worksheet xmlns="s"><sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>'
        '<row><c r="A2" t="s"><v>2</v></c><c r="B2" s="1"><v>45449</v></c></row>'
        '<row><c r="B3"><v>3.0</v></c><c r="A3" t="s"><v>99</v></c></row></sheetData></worksheet>'
    )
    more = {"xl/sharedStrings.xml": strings, "xl/styles.xml": styles}
    sheets = {"One": [], "Two": [["text", "when"], ["Birds", "2024"]], "Other": [["x"], ["y"]]}
    path = write(tmp_path, "x.xlsx", samples.xlsx(sheets, more=more, body=body))
    with pytest.warns(
        UserWarning, match=r"sheets with other columns were left out \(split='pages' reads them\): Other"
    ):
        corpus = read_corpus(path, date="when")
    assert [(d.text, d.date) for d in corpus] == [("Whales sing", "2024-06-06"), ("Birds", "2024")]
    assert len(read_corpus(path, options=ReadOptions(split="pages"))) == 3


# ---- archives -----------------------------------------------------------------------------------------------


def packed(kind, members):
    return samples.zipped(members) if kind == "zip" else samples.tarred(members, kind.partition(".")[2])


@pytest.mark.filterwarnings("ignore:3 documents have no label", "ignore:2 documents have no label")
@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_the_files_of_an_archive_are_read_as_those_of_a_folder(tmp_path, kind):
    members = {
        "sea/w.txt": "whale", "air/b.md": "# Bird\n\nsong", "d.docx": samples.docx(["Deer"]),
        "e.eml": b"Subject: x\n\ny", ".hidden": "no", "z.png": b"\x89PNG\0\0",
    }  # fmt: skip
    corpus = read_corpus(write(tmp_path, f"x.{kind}", packed(kind, members)), label="folder")
    assert [(d.id, d.text, d.label) for d in corpus] == [
        ("sea/w.txt", "whale", "sea"), ("air/b.md", "Bird\nsong", "air"), ("d.docx", "Deer", ""),
        ("e.eml", "x\n\ny", ""),
    ]  # fmt: skip
    assert corpus.skipped == {"hidden (its name begins with a dot)": 1, "not text (a picture)": 1}
    assert {file.path: file.documents for file in corpus.files}["z.png"] == 0
    inside = read_corpus(tmp_path)
    assert inside.ids == [f"x.{kind}#{name}" for name in ("sea/w.txt", "air/b.md", "d.docx", "e.eml")]


def test_hostile_members_are_left_out_and_the_rest_is_read(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name in ("../up.txt", "/root.txt", "a/../../b.txt", "C:\\x.txt", "good.txt"):
            file.writestr(name, "text of " + name)
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("inner.zip", samples.zipped({"x.txt": "no"}))
    path = write(tmp_path, "x.zip", out.getvalue())
    with pytest.warns(UserWarning, match="must not be an archive in an archive"):
        corpus = read_corpus(path)
    assert corpus.texts == ["text of good.txt"]
    assert corpus.skipped == {
        "name that leads out of the archive": 4, "not a regular file (link or device)": 1, "could not be read": 1,
    }  # fmt: skip
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"odd{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
        info = tarfile.TarInfo("../up.txt")
        tar.addfile(info)
        good = tarfile.TarInfo("good.txt")
        good.size = 4
        tar.addfile(good, io.BytesIO(b"good"))
    corpus = read_corpus(write(tmp_path, "y.tar", out.getvalue()))
    assert corpus.texts == ["good"]
    assert corpus.skipped == {"not a regular file (link or device)": 4, "name that leads out of the archive": 1}


def test_many_members_end(tmp_path):
    path = write(tmp_path, "x.zip", samples.zipped({f"{n}.txt": f"text {n}" for n in range(120)}, zipfile.ZIP_STORED))
    corpus = read_corpus(path, options=ReadOptions(limits=ReadLimits(max_members=100)))
    assert len(corpus) == 100
    assert corpus.skipped == {"beyond the first 100 files of an archive (max_members)": 20}
    path = write(tmp_path, "x.tar", samples.tarred({f"{n}.txt": f"text {n}" for n in range(120)}))
    assert len(read_corpus(path, options=ReadOptions(limits=ReadLimits(max_members=100)))) == 100


def test_encrypted_members_are_named(tmp_path):
    data = samples.locked_zip({"a.txt": "secret", "b.txt": "open"})
    corpus = read_corpus(write(tmp_path, "x.zip", data))
    assert (corpus.texts, corpus.skipped) == (["open"], {"encrypted": 1})


BOMB = b" " * (50 << 20)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.docx", lambda: samples.docx([], body=samples.word_body(["x" * 30_000_000])), "must not expand"),
        ("x.xlsx", lambda: samples.xlsx({"S": []}, body=samples.sheet_body([["x" * 30_000_000]])), "must not expand"),
        ("x.odt", lambda: samples.odt([], body=b"<a>" + BOMB + b"</a>"), "must not expand"),
        ("x.zip", lambda: samples.zipped({f"{n}.txt": b" " * (1 << 20) for n in range(50)}), "no documents in"),
        ("x.tar.gz", lambda: samples.tarred({"a.txt": BOMB}, "gz"), "must not expand"),
        ("x.docx", lambda: samples.docx([], body='<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'), "must not define"),
        ("x.docx", lambda: samples.docx([], body='<!DOCTYPE x SYSTEM "http://x.invalid/x.dtd"><x/>'), "document type"),
        ("x.docx", lambda: samples.docx([], body="<a>" * 10_000), "must not nest elements more than"),
        ("x.docx", lambda: b"\xd0\xcf\x11\xe0" + b"\0" * 600, "must not be encrypted or in an old office format"),
        ("x.docx", lambda: samples.zipped({"word/x.xml": "x"}), "must have a member word/document.xml"),
        ("x.docx", lambda: samples.docx(["a"])[:-30], "must be a valid ZIP file"),
        ("x.rtf", lambda: b"{\\rtf1" + b"{" * 100_000, "must not nest groups"),
        ("x.epub", lambda: samples.epub([]), "a book without text"),
        ("x.tar", lambda: b"x" * 2000, "must be a valid TAR file"),
        ("x.zip", lambda: samples.zipped({}), "There are no documents in"),
    ],
)  # fmt: skip
def test_hostile_documents_are_refused_soon(tmp_path, name, data, message):
    path = write(tmp_path, name, data())
    assert message in refusal(path)


def test_a_directory_too_long_to_load_is_refused(tmp_path):
    data = bytearray(samples.zipped({"x.txt": "x"}))
    end = data.rindex(b"PK\x05\x06")
    data[end + 12 : end + 16] = (1 << 30).to_bytes(4, "little")
    assert "directory of at most" in refusal(write(tmp_path, "x.zip", bytes(data)))


def test_a_repeated_string_counts_as_often_as_it_stands(tmp_path):
    strings = f'<sst xmlns="s"><si><t>{"whale " * 20_000}</t></si></sst>'
    body = '<worksheet xmlns="s"><sheetData>' + '<row><c t="s"><v>0</v></c></row>' * 20_000 + "</sheetData></worksheet>"
    path = write(tmp_path, "x.xlsx", samples.xlsx({"S": []}, more={"xl/sharedStrings.xml": strings}, body=body))
    assert "must not expand more than 200 times" in refusal(path)


# ---- PDF ----------------------------------------------------------------------------------------------------


@NEEDS_PDF
def test_pages(tmp_path):
    path = write(tmp_path, "x.pdf", samples.pdf(["Whales sing.", "Birds fly."], title="Animals"))
    corpus = read_corpus(path)
    assert corpus.texts == ["Whales sing.", "Birds fly."]
    assert (corpus.titles[1], corpus.dates[0]) == ("Animals, page 2", "2024-06-06T09:30")
    assert read_corpus(tmp_path).texts == ["Whales sing.\n\nBirds fly."]
    assert read_corpus(io.BytesIO(path.read_bytes()), format="pdf").texts == corpus.texts
    archive = write(tmp_path, "x.zip", samples.zipped({"x.pdf": path.read_bytes()}))
    assert read_corpus(archive).texts == ["Whales sing.\n\nBirds fly."]


def test_words_divided_by_line_ends_are_joined():
    text = "A long\ufffe\r\ndistance call to hump\ufffe\r\nback whales, a deep\ufffe\r\nsea: long, distance, deep-sea."
    assert pdf._joined([text]) == ["A long-distance call to humpback whales, a deep-sea: long, distance, deep-sea."]
    assert pdf._joined(["whale \r\nsong"]) == ["whale\nsong"]
    rare = "a line\r\n" * 20 + "a Moscow\ufffe\r\nbased firm"
    assert pdf._joined([rare])[0].endswith("a Moscow-based firm")  # nothing else is divided
    assert pdf._joined([rare + "\r\nMoscowbased"])[0].endswith("a Moscowbased firm\nMoscowbased")
    with soon(5):
        pdf._joined(["x" * 1_000_000 + "\ufffe"])


def test_what_stands_on_every_page_is_not_text():
    texts = ["Whales sing.", "Birds fly.", "Deer run."]
    pages = [f"ACME report 2024\r\n{text}\r\nThere are {text[:4]}.\r\nPage {n} of 3" for n, text in enumerate(texts, 1)]
    assert pdf.without_margins(pages) == [f"{text}\nThere are {text[:4]}." for text in texts]
    assert pdf.without_margins(pages[:2])[0].startswith("ACME report")  # two pages may begin alike
    printed = "6/6/24, 9:30 AM A title\nWhales sing 1/2\nhttps://example.org/x 1/2"
    assert pdf.without_margins([printed]) == ["Whales sing 1/2"]
    assert pdf.without_margins(["Whales sing.\nsee 1/2"]) == ["Whales sing.\nsee 1/2"]  # no date above
    same = ["a\nb\nWhales\nc\nd", "a\nb\nBirds\nc\nd", "x\nb\nDeer\nc\ny"]
    assert pdf.without_margins(same) == ["Whales", "Birds", "x\nDeer\ny"]
    assert pdf.without_margins(["", "", ""]) == ["", "", ""]
    assert pdf.without_margins(["Sign here"] * 3) == ["Sign here"] * 3  # nothing else would be left


@NEEDS_PDF
def test_scans_and_damage_cost_one_file(tmp_path):
    write(tmp_path, "a.pdf", samples.pdf(["Whales sing."]))
    write(tmp_path, "b.pdf", samples.pdf(["x", "y"], picture=True))
    write(tmp_path, "c.pdf", b"%PDF-1.5 nothing")
    write(tmp_path, "d.pdf", samples.pdf([""]))
    write(tmp_path, "e.pdf", samples.pdf(["Birds fly."]))
    with pytest.warns(UserWarning, match=r"left out: c.pdf \(c.pdf must be a valid PDF"):
        corpus = read_corpus(tmp_path)
    assert corpus.texts == ["Whales sing.", "Birds fly."]
    assert corpus.skipped == {
        "a scan without text (run OCR first)": 1, "could not be read": 1, "a PDF without text": 1,
    }  # fmt: skip
    assert "a scan without text" in refusal(tmp_path / "b.pdf")


@NEEDS_PDF
def test_a_page_named_a_million_times_ends(tmp_path):
    path = write(tmp_path, "x.pdf", samples.pdf(["Whales sing."], repeat=100_000)[:-200])
    options = ReadOptions(limits=ReadLimits(max_ratio=2))
    assert "must" in refusal(write(tmp_path, "y.pdf", samples.pdf(["Whales sing."], repeat=100_000)), options=options)
    path.unlink()


@NEEDS_PDF
def test_a_stream_that_fills_the_memory_costs_its_process(tmp_path):
    write(tmp_path, "a.pdf", samples.pdf(["x"], line=b" " * (300 << 20)))
    write(tmp_path, "b.pdf", samples.pdf(["Whales sing."]))
    with pytest.warns(UserWarning, match=r"a.pdf must be a valid PDF; reading it crashed, or took too much memory"):
        assert read_corpus(tmp_path).texts == ["Whales sing."]


class Clumsy(pdf.PdfWorker):
    """A worker whose program does what the test says."""

    program = ""

    def _start(self):
        known = pdf._WORKER
        try:
            pdf._WORKER = self.program
            return super()._start()
        finally:
            pdf._WORKER = known


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; input(); os.abort()", "reading it crashed, or took too much memory"),
        ("import time; print('{\"text\": \"\"}', flush=True); time.sleep(60)", "must be readable in 0.5 s a page"),
    ],
)  # fmt: skip
def test_a_crash_and_a_hang_end_with_a_line(tmp_path, monkeypatch, program, message):
    script = tmp_path / "worker.py"
    script.write_text(program, encoding="utf-8")
    monkeypatch.setattr(Clumsy, "program", script)
    monkeypatch.setattr(pdf, "PdfWorker", Clumsy)
    monkeypatch.setattr(pdf, "find_spec", lambda _: True)
    path = write(tmp_path, "x.pdf", samples.pdf(["x"]))
    assert message in refusal(path, options=ReadOptions(limits=ReadLimits(max_seconds=0.5)))


def test_without_its_library_a_pdf_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "find_spec", lambda _: None)
    path = write(tmp_path, "x.pdf", samples.pdf(["x"]))
    with pytest.raises(
        MissingExtraError, match=r"^pypdfium2 must be installed to read PDF; run: pip install 'grampus\[files\]'$"
    ):
        read_corpus(path)
    write(tmp_path, "y.txt", b"whale")
    with pytest.warns(UserWarning, match="pip install"):
        corpus = read_corpus(tmp_path)
    assert corpus.texts == ["whale"]
    assert corpus.skipped == {"needs a library that is not installed": 1}


@NEEDS_PDF
@pytest.mark.skipif(sys.platform == "win32", reason="looks at processes in /proc")
def test_no_process_is_left_behind(tmp_path):
    before = children()
    read_corpus(write(tmp_path, "x.pdf", samples.pdf(["Whales sing."])))
    assert children() == before


def children():
    me = str(os.getpid())
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[1] == me:
                found.add(name)
    return found


# ---- a folder of everything ---------------------------------------------------------------------------------


@NEEDS_PDF
@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
def test_a_messy_folder_is_read_in_one_run(tmp_path):
    """Every kind of file, five encodings, a scan, an empty file, one of 200 MB and odd names: each is in the table."""
    text = "Les élèves étaient déjà là, très fatigués."
    good = {
        **{f"{name}.{name}": make() for name, (make, _) in EXAMPLES.items() if name not in ("zip", "tar")},
        "a.zip": samples.zipped({"in.txt": "whales", "in.docx": samples.docx(["deer"])}),
        "a.tar.gz": samples.tarred({"in.txt": "whales", "in.md": "# birds"}, "gz"),
        "a.odp": samples.odt(["Whales sing."]),
        **{f"{code}.txt": text.encode(code) for code in ("utf-8", "utf-16", "cp1252", "utf-8-sig", "utf-32")},
        "a.md": b"# Whales", "a.rst": b"Whales\n======\n", "a.tex": b"\\section{Whales}",
        "a.srt": b"1\n0:01,0 --> 0:02,0\nWhales",
        "a.html": b"<p>Whales</p>", "a.eml": b"Subject: Whales\n\nsing", "a.log": b"whales", "a.py": b"whales = 1",
        "a.csv": b"id,text\n1,whales", "a.json": b'["whales"]', "a.txt.gz": gzip.compress(b"whales"),
        "new\nline.txt": b"whales", "Makefile": b"all: whales", "a.mbox": b"From a Thu Jun 6 2024\nSubject: x\n\ny\n",
    }  # fmt: skip
    bad = {
        "scan.pdf": samples.pdf(["x"], picture=True), "empty.txt": b"", "photo.jpg": b"\xff\xd8\xff\xe0",
        "a.exe": b"MZ\0\0",
        "broken.docx": samples.docx(["x"])[:200], "broken.pdf": b"%PDF-1.4", "old.doc": b"\xd0\xcf\x11\xe0\0",
        ".hidden": b"x",
        "nested.zip": samples.zipped({"in.zip": samples.zipped({"x.txt": "x"})}),
    }  # fmt: skip
    for name, data in (good | bad).items():
        write(tmp_path, name, data)
    with (tmp_path / "huge.txt").open("wb") as out:
        out.truncate(200_000_000)
        out.write(b"text")
    with soon():
        corpus = read_corpus(tmp_path)
    table = {file.path.replace("\\n", "\n"): file for file in corpus.files}
    assert set(table) == {*good, *bad, "huge.txt"}
    assert [name for name in good if not table[name].documents or table[name].reason] == []
    assert [name for name in (*bad, "huge.txt") if table[name].documents or not table[name].reason] == []
    assert sum(file.documents for file in corpus.files) == len(corpus)
    assert sum(text in document.text for document in corpus) == 5


def test_tables_in_a_folder_are_read_by_row(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, data in {
        "notes.csv": b"Nr,Subject,Description,Date\n1,W,The whale sang.,06.06.2024\n2,B,Birds sing too.,\n3,X,,\n",
        "list.json": b'[{"id": "a", "body": "A long grey whale."}, {"id": "b", "body": "Two small birds."}]',
        "one.json": b'{"title": "Deer", "body": "The deer ran far away.", "tags": ["x"], "n": 3}',
        "map.json": b'{"p": {"text": "Foxes hunt."}, "q": {"text": "Hens hide."}}',
        "more.jsonl": b'{"text": "Cows graze."}\nnot JSON\n{"text": 7}\n',
        "numbers.csv": b"x,y\n1,2\n3,4\n",
        "single.tsv": b"text\tn\nOwls hoot.\t1\n",
    }.items():
        write(tmp_path, name, data)
    table = pyarrow.table({"text": ["Bees hum.", None], "title": ["Bees", "None"]})
    parquet.write_table(table, tmp_path / "x.parquet")
    members = {"y.parquet": (tmp_path / "x.parquet").read_bytes(), "z.csv": "text\nAnts\n"}
    write(tmp_path, "in.zip", samples.zipped(members))
    with pytest.warns(CorpusWarning, match="numbers.csv must have a column of texts"):
        corpus = read_corpus(tmp_path)
    found = dict(zip(corpus.ids, corpus.texts, strict=True))
    assert found == {
        "in.zip#y.parquet#1": "Bees hum.", "in.zip#z.csv": "Ants",
        "list.json#a": "A long grey whale.", "list.json#b": "Two small birds.",
        "map.json#p": "Foxes hunt.", "map.json#q": "Hens hide.",
        "more.jsonl#1": "Cows graze.", "notes.csv#2": "The whale sang.", "notes.csv#3": "Birds sing too.",
        "one.json": "The deer ran far away.", "single.tsv": "Owls hoot.", "x.parquet#1": "Bees hum.",
    }  # fmt: skip
    files = {file.path: file for file in corpus.files}
    assert (files["notes.csv"].documents, files["notes.csv"].reason) == (2, "empty text")
    assert "must have a column of texts; its columns are: x, y" in files["numbers.csv"].reason
    assert files["more.jsonl"].reason == "not JSON; not a string"
    said = next(note for note in corpus.notes if "a row of a table is a document" in note)
    assert "notes.csv (Description)" in said or "and" in said
    assert dict(zip(corpus.ids, corpus.titles, strict=True))["one.json"] == "Deer"
    assert dict(zip(corpus.ids, corpus.dates, strict=True))["notes.csv#2"] == "2024-06-06"
    whole = read_corpus(tmp_path, options=ReadOptions(split="file", pattern="*.csv"))
    assert whole.ids == ["notes.csv", "numbers.csv"]
    assert whole.texts[0].startswith("Nr,Subject")
