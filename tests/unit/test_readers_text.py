"""Plain and marked text, pages and mail: what is read, how it is split, and what is said about it."""

import mailbox
import random
from email.message import EmailMessage

import pytest

from grampus.errors import CorpusError
from grampus.testing import check_reader
from grampus.text import CorpusWarning, ReadLimits, ReadOptions, read_corpus
from grampus.text.readers import READERS
from grampus.text.readers.html import extract_html
from grampus.text.readers.lines import guess_split
from grampus.text.readers.markup import read_latex, read_markdown, read_rst, read_subtitles
from tests.timing import soon

PAGE = """<!DOCTYPE html><html><head><meta charset="iso-8859-1"><title>Whales &amp; men</title>
<meta name="date" content="2024-06-06"><style>p { color: red }</style><script>var p = "<p>no</p>";</script></head>
<body><nav><ul><li><a href="/">Home</a></li></ul></nav><div class="menu"><a href="x">Other</a> pages</div>
<main><h1>Whales</h1><p>Whales sing &ldquo;low&rdquo; songs in the <b>deep</b>
sea, caf\xe9.</p><ul><li>Blue whale</li><li>Humpback</li></ul><p>Bye<br>now</p></main>
<footer>Copyright</footer></body></html>"""


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# ---- plain text ---------------------------------------------------------------------------------------------

PROSE = (
    "The whale is the largest animal that has ever lived and\nit sings songs that carry over a thousand miles\n"
    "through the deep sea, where nobody but other whales and\nsubmarines listens to what it has to say.\n"
)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("great phone\nbad battery\nwould buy again\n", "lines"),
        ("one line\n\nanother line\n\na third\n", "lines"),
        ("größer\n" * 10, "lines"),
        ("whale song\nin the sea\n\nbird song\nin the air\n", "paragraphs"),
        ("page one\n\fpage two\n", "pages"),
        (PROSE, "file"),
        (PROSE + "\n" + PROSE, "paragraphs"),
        ("The battery lasts long.\nThe screen is too dark, but fine.\nIt broke.\n", "lines"),
    ],
)
def test_how_a_text_is_split_is_seen(text, split):
    assert guess_split(text) == split


@pytest.mark.parametrize(
    ("split", "texts"),
    [
        ("auto", ["whale\nsong", "bird\nsong"]),
        ("lines", ["whale", "song", "bird", "song"]),
        ("paragraphs", ["whale\nsong", "bird\nsong"]),
        ("pages", ["whale\nsong\n\nbird\nsong"]),
        ("file", ["whale\nsong\n\nbird\nsong\n"]),
    ],
)
def test_the_split_can_be_chosen(tmp_path, split, texts):
    path = write(tmp_path, "x.txt", "whale\nsong\n\nbird\nsong\n")
    corpus = read_corpus(path, options=ReadOptions(split=split))
    assert corpus.texts == texts
    said = [f"each paragraph is a document (split= to change): {path}."] if split == "auto" else []
    assert list(corpus.notes) == said


def test_a_paragraph_that_is_too_long_is_one_bad_record(tmp_path):
    path = write(tmp_path, "x.txt", "a\nb\n\n" + "c\n" * 100 + "\nd\ne\n")
    options = ReadOptions(split="paragraphs", on_error="skip", limits=ReadLimits(max_document_bytes=50))
    corpus = read_corpus(path, options=options)
    assert (corpus.texts, corpus.skipped) == (["a\nb", "d\ne"], {"record too long": 1})


@pytest.mark.parametrize("name", ["x.md", "x.log", "x.rst", "x.tex", "x.py", "x.srt", "x.c", "README"])
def test_text_of_any_kind_is_read_as_a_file_and_in_a_folder(tmp_path, name):
    path = write(tmp_path, name, "whales sing in the deep")
    assert read_corpus(path).texts == ["whales sing in the deep"]
    assert read_corpus(tmp_path).texts == ["whales sing in the deep"]


def test_the_first_line_is_a_title_if_it_stands_alone(tmp_path):
    write(tmp_path, "a.txt", "On whales\n\nThey sing.")
    write(tmp_path, "b.txt", "They sing.\n\nThey do.")
    assert read_corpus(tmp_path).titles == ["On whales", ""]


# ---- marks --------------------------------------------------------------------------------------------------


def test_markdown():
    found = read_markdown("---\ntitle: 'Of whales'\ndate: 2024-06-06\n---\n# Whales\n\nThey **sing** [low](http:y).\n\n"
                          "- a `song`\n- another\n\n```python\nprint(1)\n```\n\n[1]: http://x.org\n")  # fmt: skip
    assert (found.title, found.date) == ("Of whales", "2024-06-06")
    assert found.pages[0] == "Whales\nThey sing low.\n\na song\nanother\n\nprint(1)"
    assert read_markdown("text\n\n## Whale *song* ##\nmore").title == "Whale song"
    badge = "[![Coverage Status](http://x.org/a.svg)](http://x.org)"
    found = read_markdown(
        f"<!--\n# No\n-->\n<p align=center>\n<img\n src=a.svg\n></p>\n\n# [Whales](a) {badge}\n\n![b][c] [Sing][d]."
    )
    assert (found.title, found.pages[0]) == ("Whales", "Whales\nSing.")


def test_restructured_text():
    found = read_rst(
        "``Whales``\n====\n\nThey *sing*, see :ref:`songs <s>` and ``low``.\n\n.. image:: x.png\n   :alt: no\n\nBye.\n"
    )
    assert (found.title, found.pages[0]) == ("Whales", "Whales\nThey sing, see songs and low.\n\nBye.")


def test_latex():
    found = read_latex("\\documentclass{article}\n\\title{On \\emph{whales}}\n\\begin{document}\n\\section{Song}\n"
                       "Sing $x$ low~\\$5 notes \\cite{a}. % no\n\\begin{align}a\\end{align}\n\nBye.")  # fmt: skip
    assert found.title == "On whales"
    assert found.pages[0] == "Song\nSing low $5 notes .\n\nBye."


def test_subtitles():
    found = read_subtitles("WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000 align:start\n<i>Thar</i> she blows!\n\n"
                           "2\n00:00:03,000 --> 00:00:04,000\n{\\an8}A whale.\n")  # fmt: skip
    assert found.pages[0] == "Thar she blows!\n\nA whale."


# ---- HTML ---------------------------------------------------------------------------------------------------


def test_a_page_is_its_main_text(tmp_path):
    path = write(tmp_path, "x.html", PAGE.encode("cp1252"))
    corpus = read_corpus(path, options=ReadOptions(split="file"))
    assert (
        corpus[0].text == "Whales\nWhales sing “low” songs in the deep sea, café.\n\nBlue whale\nHumpback\n\nBye\nnow"
    )
    assert (corpus[0].title, corpus[0].date) == ("Whales & men", "2024-06-06")
    assert len(read_corpus(path)) == 3
    assert read_corpus(tmp_path).texts == corpus.texts


def test_menus_without_names_are_left_out():
    menu = "<ul>" + "".join(f"<li><a href='{n}'>Section number {n}</a></li>" for n in range(20)) + "</ul>"
    text = "<p>" + "Whales sing in the deep sea. " * 10 + "</p>"
    assert "Section" not in extract_html(menu + text).pages[0]
    assert "Section" in extract_html(f"<main>{menu}</main>").pages[0]  # a list of links is the text of its page
    assert extract_html("<nav>" + text).pages[0].startswith("Whales")  # never closed: better all than nothing


def test_odd_tags_are_read_as_browsers_do():
    assert extract_html("a < b &lt; c <3 d").pages[0] == "a < b < c <3 d"
    assert extract_html("<p title='a > b'>whale</p><!-- no --> song<script>x</script>").pages[0] == "whale\n\nsong"
    assert extract_html("<p>one<p>two<br>three").pages[0] == "one\n\ntwo\nthree"
    assert extract_html("<table><tr><td>a<td>b<tr><td>c</table>").pages[0] == "a b\n\nc"


@pytest.mark.parametrize(
    "unit",
    ['<a ">"\'', "<!--", "<a", "<script>", "</p", "<p ", "<![CDATA[", "&#", "<div>", '<a b="', "<b></i>", "<title>"],
)
def test_broken_pages_take_linear_time(unit):
    with soon(2):
        extract_html(unit * 40_000)


@pytest.mark.parametrize(
    ("read", "unit"),
    [
        (read_rst, "|a"), (read_markdown, "[!["), (read_markdown, "<a b=\n"),
        (read_rst, ":a"), (read_rst, ":a:`"), (read_rst, "*"), (read_rst, "`a <"), (read_latex, "\\begin{align}"),
        (read_latex, "\\["), (read_latex, "$$"), (read_latex, "\\cite["), (read_latex, "\\emph["),
        (read_latex, "\\title{"), (read_latex, "{"), (read_markdown, "# "), (read_markdown, "[a]("),
        (read_markdown, "*a"), (read_markdown, "- "), (read_markdown, "<!--"), (read_subtitles, "1"),
        (read_subtitles, "1:"), (read_subtitles, "<a"), (extract_html, "<div " + "a" * 9000 + ">"),
    ],
)  # fmt: skip
def test_broken_marks_take_linear_time(read, unit):
    with soon(2):
        read(unit * (160_000 // len(unit)) + "x")


ENDLESS = [
    b"Subject: " + b"=?a?q?" * 100_000,
    b'Content-Type: text/plain; a="' + b";" * 500_000,
    b"Date: " + b"1 " * 500_000,
]


@pytest.mark.parametrize("header", ENDLESS)
def test_endless_headers_take_linear_time(tmp_path, header):
    with soon(5):
        read_corpus(write(tmp_path, "x.eml", header + b"\nX: y\n\nwhales"))


# ---- mail ---------------------------------------------------------------------------------------------------


def message(subject="Whale söng", body="They sing.\n", html=None, attachment=None):
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["Date"] = subject, "Ahab <a@example.org>", "Thu, 06 Jun 2024 09:30:00 +0200"
    mail.set_content(body)
    if html:
        mail.add_alternative(html, subtype="html")
    if attachment:
        mail.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename=attachment)
    return mail


def test_a_message(tmp_path):
    path = write(tmp_path, "x.eml", bytes(message(html="<p>They <b>sing</b>.</p>", attachment="score.pdf")))
    corpus = read_corpus(path)
    assert corpus[0].text == "Whale söng\n\nThey sing."
    assert (corpus[0].title, corpus[0].date) == ("Whale söng", "2024-06-06T09:30:00+02:00")
    assert corpus.notes == (f"attachments were not read: {path}.",)
    assert read_corpus(path, label="attachments").labels == ("score.pdf",)
    only_html = EmailMessage()
    only_html["Subject"] = "=?unknown?q?x?= =?utf-8?q?caf=C3=A9?="
    only_html.set_content("<p>They <b>sing</b>.</p>", subtype="html")
    assert read_corpus(write(tmp_path, "y.eml", bytes(only_html)))[0].text.endswith("They sing.")


def test_an_mbox_and_a_maildir_hold_the_same_messages(tmp_path):
    mbox, maildir = mailbox.mbox(tmp_path / "x.mbox"), mailbox.Maildir(tmp_path / "mail")
    for number in range(3):
        mail = message(f"Song {number}", f"They sing.\n\nFrom the deep, {number}.\n")
        mbox.add(mail)
        maildir.add(mail)
    mbox.close()
    maildir.close()
    texts = [f"Song {number}\n\nThey sing.\n\nFrom the deep, {number}." for number in range(3)]
    found = read_corpus(tmp_path / "x.mbox")
    assert found.texts == texts
    assert found.ids == ["1", "2", "3"]
    assert sorted(read_corpus(tmp_path / "mail").texts) == texts
    (tmp_path / "x.mbox").rename(tmp_path / "Inbox")  # as Thunderbird names it
    assert read_corpus(tmp_path / "Inbox").texts == texts
    (tmp_path / "Inbox").rename(tmp_path / "mail" / "old.mbox")
    corpus = read_corpus(tmp_path / "mail")
    assert len(corpus) == 6
    assert corpus.ids[-3:] == ["old.mbox#1", "old.mbox#2", "old.mbox#3"]
    assert corpus.files[-1] == ("old.mbox", "mbox", 3, "")


def test_what_is_no_mail_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="must be a mail with headers"):
        read_corpus(write(tmp_path, "x.eml", "\n\nno headers"))
    with pytest.raises(CorpusError, match="must be an mbox"):
        read_corpus(write(tmp_path, "x.mbox", "no mail"))
    deep = b"Subject: x\n" + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2000)
    )
    with pytest.raises(CorpusError, match="damaged"):
        read_corpus(write(tmp_path, "deep.eml", deep))


# ---- every reader -------------------------------------------------------------------------------------------

MAIL = bytes(message("Whales", "They sing."))
EXAMPLES = {
    "plain": (b"whales sing", ["whales sing"]),
    "markdown": (b"# Whales\nThey *sing*.", ["Whales\nThey sing."]),
    "rst": (b"Whales\n======\n\nThey *sing*.", ["Whales\nThey sing."]),
    "latex": (b"\\section{Whales}\nThey \\emph{sing}.", ["Whales\nThey sing ."]),
    "subtitles": (b"1\n00:00:01,000 --> 00:00:02,000\nThey sing.", ["They sing."]),
    "html": (b"<title>Whales</title><p>They <i>sing</i>.</p>", ["They sing."]),
    "mail": (MAIL, ["Whales\n\nThey sing."]),
    "mbox": (b"From a@b Thu Jun 6 09:30:00 2024\n" + MAIL, ["Whales\n\nThey sing."]),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_readers_conform(name):
    check_reader(READERS[name], *EXAMPLES[name])


@pytest.mark.filterwarnings("ignore::grampus.text.CorpusWarning")
def test_a_folder_tells_what_became_of_each_file(tmp_path):
    write(tmp_path, "a.md", "# A\n\nwhale")
    write(tmp_path, "b.eml", "\n\nno mail")
    write(tmp_path, "c.png", b"\x89PNG\0\0")
    write(tmp_path, "d.txt", " ")
    write(tmp_path, ".e", "hidden")
    write(tmp_path, "f\n.txt", "odd name")
    found = {
        file.path: (file.reader, file.documents, file.reason.partition(" (")[0]) for file in read_corpus(tmp_path).files
    }
    assert found == {
        ".e": ("", 0, "hidden"),
        "a.md": ("markdown", 1, ""),
        "b.eml": ("mail", 0, "could not be read"),
        "c.png": ("text", 0, "not text"),
        "d.txt": ("plain", 0, "empty text"),
        "f\\n.txt": ("plain", 1, ""),
    }


def test_an_unreadable_member_is_warned_about(tmp_path):
    write(tmp_path, "a.md", "whale")
    write(tmp_path, "b.eml", "\n\nno mail")
    with pytest.warns(CorpusWarning, match=r"left out: b.eml \(b.eml must be a mail with headers"):
        assert len(read_corpus(tmp_path)) == 1


def test_random_bytes_in_html_never_fail():
    rng = random.Random(0)
    pieces = ["<", ">", "/", "p", "div", " ", '"', "'", "=", "!--", "-->", "&", ";", "#x", "script", "nav", "é", "\n"]
    for _ in range(500):
        extract_html("".join(rng.choice(pieces) for _ in range(80)))
