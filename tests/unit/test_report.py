"""The report without a browser: what is in the file, what edits may say, what the verdict says."""

import base64
import hashlib
import itertools
import json
import os
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from grampus import config
from grampus._rows import document_rows
from grampus.describe.duplicates import MOST_PAIRS
from grampus.errors import InputError
from grampus.persist import Edit, Run, compare_runs
from grampus.report import read_edits, report_html, write_report
from grampus.report.build import SCRIPTS, STYLES, asset
from grampus.report.compressed import LEVEL, PIECE, compressed
from grampus.report.island import island, json_text
from grampus.report.page import UNKNOWN_DAY, days_of, page_of
from grampus.report.places import places_of
from grampus.report.verdict import first_notes, verdict
from grampus.report.words import word_index
from grampus.text import Texts
from tests.pages import example_run
from tests.reference import naive_words
from tests.runs import changed, small_run


class Parts(HTMLParser):
    """The policy, and the content of every script and style element."""

    def __init__(self, page):
        super().__init__()
        self.policy, self.inside, self.content = "", None, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        self.inside = (tag, given.get("type"), given.get("id")) if tag in ("script", "style") else None
        if self.inside:
            self.content.append([self.inside, ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.content[-1][1] += data


def block(page, name):
    return next(text for (_, _, found), text in Parts(page).content if found == name)


def test_the_policy_allows_exactly_what_is_in_the_file():
    parts = Parts(report_html(small_run()))
    rules = dict(rule.strip().split(" ", 1) for rule in parts.policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "worker-src", "base-uri", "form-action"}
    assert rules["img-src"] == "data:"
    assert rules["worker-src"] == "blob:"
    runs = {"script": [], "style": []}
    for (tag, kind, _), text in parts.content:
        if kind is None:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            runs[tag].append(f"'sha256-{digest}'")
    assert rules["script-src"].split() == runs["script"]
    assert rules["style-src"].split() == runs["style"]


@pytest.mark.parametrize("name", [*SCRIPTS, "mark.js", "worker.js"])
def test_scripts_put_text_in_as_text_and_ask_nothing(name):
    source = asset(name)
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "setTimeout(\"",
                 "fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "import(", "http:", "https:",
                 "</script", "<!--"):  # fmt: skip
        assert word not in source.replace("http://www.w3.org/2000/svg", ""), word
    assert source.count("\n") <= 250


def test_styles_load_nothing():
    for name in STYLES:
        assert "url(" not in asset(name)
        assert "@import" not in asset(name)


def test_json_cannot_leave_its_element():
    wicked = "</script><!--<script>\u2028\u2029&amp;]]>"
    text = json_text({"a": wicked})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"a": wicked}


def test_texts_are_excerpts_whole_or_absent():
    run = small_run()

    def inside(**options):
        return json.loads(zlib.decompress(base64.b64decode(block(report_html(run, **options), "texts"))))

    assert inside()["texts"] == list(run.documents.excerpts)
    assert inside(texts="full")["texts"] == list(run.documents.texts)
    assert inside(texts="none")["texts"] is None
    page = report_html(run, texts="none")
    assert "in the sea" not in page
    assert inside(texts="none")["titles"] is None
    assert block(page, "index") == ""
    assert "holds no text, title or word index" in page
    assert run.without_texts().documents.titles is None
    with pytest.raises(InputError, match="needs a run with texts"):
        report_html(run.without_texts(), texts="full")
    with pytest.raises(InputError, match="'excerpts', 'full' or 'none'"):
        report_html(run, texts="some")


def words_in(index):
    """Read the index as the script does: word → documents."""

    def numbers(data, count=None):
        found, value, shift = [], 0, 0
        for at, byte in enumerate(data):
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                found.append(value)
                value, shift = 0, 0
            if count is not None and len(found) == count:
                return found, at + 1
        return found, len(data)

    length = int.from_bytes(index[:4], "little")
    words = index[4 : 4 + length].decode().split("\n")
    sizes, used = numbers(index[4 + length :], len(words))
    lists, found = index[4 + length + used :], {}
    for word, end, size in zip(words, itertools.accumulate(sizes), sizes, strict=True):
        found[word] = list(itertools.accumulate(numbers(lists[end - size : end])[0]))
    return found


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7])
def test_what_is_compressed_in_pieces_is_one_stream(size):
    data = np.random.default_rng(0).integers(97, 105, size, np.uint8).tobytes()
    data = data[: size // 2] + data[: size - size // 2]
    with config(threads=1):
        packed = compressed(data)
    assert zlib.decompress(base64.b64decode(packed)) == data
    with config(threads=3):
        assert compressed(data) == packed
    if size <= PIECE:
        assert base64.b64decode(packed) == zlib.compress(data, LEVEL)


def test_the_index_holds_every_word_of_every_document():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 40, 5)) for _ in range(300)]
    texts[200] = "Größe, ＦＵＬＬ-width snake_case 日本語 x" + "y" * 100
    found = words_in(word_index([texts]))
    expected = {}
    for place, text in enumerate(texts):
        for word in dict.fromkeys(naive_words.words_of(text)):
            expected.setdefault(word, []).append(place)
    assert found == expected
    assert {"größe", "full", "width", "snake", "case", "日本語", "x" + "y" * 63} < set(found)
    far = ["x", *["y"] * 127, "x", *["y"] * 128, "x", *["y"] * 2**14, "x"]  # gaps of one, two and three bytes
    assert words_in(word_index([far]))["x"] == [0, 128, 257, 257 + 2**14 + 1]


def test_a_verdict_of_no_groups_is_said_first():
    run = example_run()
    assert "These groups are fairly clear" in page_of(run).lead.text
    weak = replace(run.evidence.choice, mean=(0.1, 0.2, 0.01, 0.1, None), standard_error=(0.05,) * 4 + (None,))
    assert page_of(changed(run, choice=weak)).lead.text.startswith("No clear groups")
    assert said(changed(run, choice=weak), "good") == ""
    assert page_of(changed(run, choice=replace(run.evidence.choice, p_value=0.3))).lead.kind == "warning"
    one = replace(run.evidence.choice, ks=(4,), mean=(0.9,), standard_error=(0.01,), ranking=(4,))
    assert said(changed(run, choice=one), "good") == ""  # nothing to compare it with


def test_numbers_survive_packing():
    run = example_run()
    found = island(page_of(run))
    unpack = lambda text, kind: np.frombuffer(base64.b64decode(text), dtype=kind)  # noqa: E731
    assert np.array_equal(unpack(found["levels"][0]["labels"], "u1"), run.evidence.labels)
    places = unpack(found["positions"], "<u2").reshape(-1, 2).astype(float)
    np.testing.assert_allclose(places / 65535, places_of(run.layout.coordinates).at, atol=1e-5)
    codes = unpack(found["column"]["codes"], "u1")
    assert [found["column"]["values"][code] for code in codes] == list(run.documents.classes)
    leaves = unpack(found["tree"]["leaf"], "u1")
    ends = [node for node in found["tree"]["nodes"] if node[1] < 0]
    assert np.bincount(leaves).tolist() == [node[2] for node in ends]
    heat = found["heatmap"]
    assert heat["bounds"][-1] == heat["size"] == len(run.layout.sample)
    assert sorted(heat["order"]) == [0, 1, 2, 3]


def test_a_large_heatmap_is_averaged():
    run = small_run()
    sample = np.repeat(np.array([2, 3, 4, 0, 1], dtype=np.int32), 200)
    values = np.kron(np.arange(25.0).reshape(5, 5), np.ones((200, 200))).astype(np.float32)
    found = island(page_of(changed(run, sample=sample, heatmap=values)))["heatmap"]
    assert found["size"] == 320
    assert found["bounds"] == [0, 192, 320]
    picture = np.frombuffer(base64.b64decode(found["values"]), dtype=np.uint8).reshape(320, 320)
    assert picture[0, 0] == 0
    assert picture[-1, -1] == 255


def test_dates_are_read_where_they_can_be():
    known = days_of(["1970-01-01", "1970-02", "1971", "1972/01/01", "1973-01-01T10:00:00Z"])
    assert known.tolist() == [0, 31, 365, 730, 1096]
    assert days_of(["2020-01-01", "2020-01-02", "", "x", "2020-13-01"])[2:].tolist() == [UNKNOWN_DAY] * 3
    assert days_of(["2020-01-01", "2020-01-01", ""]) is None


GOOD = {"format": "grampus-edits", "version": 1, "run": "ab" * 32, "names": {"0": "Birds"}, "merges": [[1, 0]]}


def test_edits_are_read_and_applied(tmp_path):
    file = tmp_path / "edits.json"
    file.write_text(json.dumps(GOOD))
    edits = read_edits(file, small_run())
    assert edits == (Edit("merge", (0, 1)), Edit("rename", (0,), name="Birds"))
    page = report_html(small_run(), edits=edits)
    assert "5 documents in 1 cluster<" in page
    assert '<h3 dir="auto">Birds</h3>' in page
    assert [one["name"] for one in json.loads(block(page, "data"))["levels"][0]["clusters"]] == ["Birds"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"format": "other"}, "downloaded from a report"),
        ({"version": 3}, "version 3"),
        ({"version": 2}, "another answer"),
        ({"run": "other"}, "other documents"),
        ({"names": []}, "names as an object"),
        ({"merges": {}}, "merges as a list"),
        ({"names": {"7": "x"}}, "from 0 to 1; got '7'"),
        ({"names": {"-1": "x"}}, "from 0 to 1"),
        ({"names": {"٣": "x"}}, "from 0 to 1"),
        ({"names": {"0": " "}}, "1 to 200 characters"),
        ({"names": {"0": 3}}, "1 to 200 characters"),
        ({"names": {"0": "x" * 201}}, "1 to 200 characters"),
        ({"merges": [[0]]}, "two clusters or more"),
        ({"merges": [[0, True]]}, "from 0 to 1"),
        ({"merges": [[0, 1.5]]}, "from 0 to 1"),
        ({"merges": [[0, 0]]}, "merges a cluster twice"),
        ({"merges": [[0, 1], [1, 0]]}, "merges a cluster twice"),
        ({"merges": ["01"]}, "two clusters or more"),
    ],
)
def test_edits_that_do_not_fit_are_refused(tmp_path, change, word):
    file = tmp_path / "edits.json"
    file.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError, match=word):
        read_edits(file, small_run())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_edits_from_a_fifo_or_device_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(2**34)
    for place in (tmp_path / "fifo", "/dev/zero", tmp_path, tmp_path / "large"):
        with pytest.raises(InputError, match="cannot be read as edits"):
            read_edits(place, small_run())


def unassigned_run():
    """The small run with its last document in no cluster."""
    run = small_run()
    first, second = run.evidence.clusters
    root, one, *rest = run.evidence.tree[:4]
    tree = (replace(root, size=4), replace(one, size=2, children=(3,)), *rest)
    return changed(
        run,
        labels=np.array([1, 1, 0, 0, -1], dtype=np.int32),
        leaves=np.array([2, 2, 3, 3, -1], dtype=np.int32),
        clusters=(replace(first, size=2, borderline=(3,)), second),
        tree=tree,
    )


def test_documents_in_no_cluster_are_shown_and_counted_apart():
    run = unassigned_run()
    assert run.n_unassigned == 1
    page = report_html(run)
    assert "5 documents in 2 clusters, 1 in no cluster" in page
    assert '<h3 dir="auto">No cluster</h3><p class="quiet" dir="auto">1 document.</p>' in page
    assert "Documents in no cluster" in page
    assert "1 document is in no cluster" in said(run)
    assert "NMI 1.00, ARI 1.00" in said(run)
    found = json.loads(block(page, "data"))
    assert [cluster.get("none", False) for cluster in found["levels"][0]["clusters"]] == [False, False, True]
    unpack = lambda text: np.frombuffer(base64.b64decode(text), dtype="u1").tolist()  # noqa: E731
    assert unpack(found["levels"][0]["labels"]) == [1, 1, 0, 0, 2]
    assert unpack(found["tree"]["leaf"])[-1] == 2  # one more than there are leaves
    assert found["heatmap"]["order"] == [0, 2, 1]


def test_results_and_comparisons_know_documents_in_no_cluster(tmp_path):
    run = unassigned_run()
    header, rows = document_rows(run)
    last = dict(zip(header, list(rows)[-1], strict=True))
    assert (last["cluster"], last["name"], last["second"]) == (None, "no cluster", 1)
    found = compare_runs(run, small_run())
    assert found.moved == (("é", -1, 0),)
    assert compare_runs(run, run).stayed == 5
    run.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").evidence.labels.tolist() == [1, 1, 0, 0, -1]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"null"])
def test_files_that_are_no_edits_are_refused(tmp_path, content):
    file = tmp_path / "edits.json"
    file.write_bytes(content)
    with pytest.raises(InputError):
        read_edits(file, small_run())
    with pytest.raises(InputError, match="cannot be read"):
        read_edits(tmp_path / "nothing", small_run())


def said(run, kind=None):
    return " ".join(statement.text for statement in verdict(run) if kind in (None, statement.kind))


def test_the_verdict_speaks_of_choice_stability_labels_and_warnings():
    run = example_run()
    assert "no other number comes close" in said(run, "good")
    assert "the number was not chosen" in said(changed(run, choice=None))
    few = replace(
        run.evidence.choice, ks=(), mean=(), standard_error=(), ranking=(), plausible=(),
        verdict="Too few to choose from.",
    )  # fmt: skip
    assert "Too few to choose from." in said(changed(run, choice=few), "warning")
    torn = changed(run, choice=replace(run.evidence.choice, plausible=(2, 3, 4, 5)))
    assert "but 2, 3 and 5 cannot be ruled out" in said(torn, "warning")
    ks = tuple(range(2, 10))
    choice = replace(run.evidence.choice, ks=ks, mean=(0.5,) * 8, standard_error=(0.1,) * 8, p_value=0.4)
    wide = changed(run, choice=replace(choice, plausible=(2, 4, 5, 6, 7, 9)))
    assert "but 2, 5 to 7 and 9 cannot be ruled out" in said(wide, "warning")
    assert "no groups at all cannot be ruled out (p = 0.4)" in said(wide, "warning")
    assert "stays together less than half of the time" in said(run, "warning")
    shaky = changed(run, clusters=tuple(replace(c, stability=0.2) for c in run.evidence.clusters))
    assert "not stable" in said(shaky, "warning")
    assert "of “topic”: NMI" in said(run)
    assert "4 documents have none" in said(run)
    assert "Agreement" not in said(changed(run, classes=None))
    assert "oscillated between" in said(changed(run, outcome="oscillated"), "warning")
    assert "limit of iterations" in said(changed(run, outcome="max_iter"), "warning")
    assert "1 document has no terms." in said(small_run(), "warning")
    assert "One cluster holds 60%" not in said(small_run())


def test_many_clusters_and_pairs_are_counted_as_a_reader_would():
    run = example_run()
    clusters = tuple(replace(one, name="ABCD"[one.number], mixed=True) for one in run.evidence.clusters)
    mixed = changed(run, clusters=clusters)
    assert "“A”, “B”, “C” and 1 more (100% of the documents) are what was left over" in said(mixed, "warning")
    for count, words in ((MOST_PAIRS, "At least 10,000 pairs"), (MOST_PAIRS - 1, "9,999 pairs"), (1, "1 pair")):
        pairs, alike = np.tile(np.array([[0, 1]], dtype=np.int32), (count, 1)), np.ones(count, dtype=np.float32)
        are = "is" if count == 1 else "are"
        statements = said(changed(run, duplicates=pairs, duplicate_similarity=alike))
        assert f"{words} of documents {are} nearly identical." in statements


def test_three_notes_come_first_and_name_no_option():
    notes = (
        "12 repeated ids were numbered, such as x#2 (id= names another column).",
        "text: 'body'; text= to change.",
        "a.txt: not UTF-8, read as cp1252 (use --encoding to name another).",
        "3 documents have no usable word: in no cluster (label −1). Try --outliers 0.1 for others.",
    )
    shown, others = first_notes(verdict(changed(example_run(), warnings=notes, outcome="max_iter")))
    assert len(shown) == 3
    assert [one.kind for one in shown] == ["warning"] * 3
    assert shown[-1].text == "3 documents have no usable word: in no cluster (label −1)."
    told = " ".join(one.text for one in (*shown, *others))
    assert "such as x#2." in told
    assert "NMI" in " ".join(one.text for one in others)
    assert not re.search(r"--\w|\w=", told)


def test_the_page_is_the_same_again_and_appears_whole(tmp_path, monkeypatch):
    run = small_run()
    file = tmp_path / "page.html"
    write_report(run, file)
    first = file.read_bytes()
    assert first.decode("utf-8") == report_html(run)
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        write_report(changed(run, source="other"), file)
    assert file.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_strange_characters_come_through():
    strange = ["\ud800 lone", "nul \x00 and \x1b", "\u202eright", "👩‍👩‍👧‍👦", "$data ${x} $$"]
    page = report_html(small_run(titles=Texts([*strange[1:], "x"]), source="$title " + "\x00\n" + strange[3]))
    page.encode("utf-8")
    assert "$title 👩‍👩‍👧‍👦" in page
    assert "\x00" not in page


# Machado, Oliveira & Fernandes 2009: full protanopia, deuteranopia and tritanopia, in linear RGB, row by row.
VISION = {
    "usual": (1, 0, 0, 0, 1, 0, 0, 0, 1),
    "protanopia": (0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998),
    "deuteranopia": (0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881),
    "tritanopia": (1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039),
}


def linear(colour):
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    """Ottosson 2020; a difference of 0.02 is just seen."""
    lms = (0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566,
           0.0883024619, 0.2817188376, 0.6299787005)  # fmt: skip
    lab = (0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099,
           0.0259040371, 0.7827717662, -0.808675766)  # fmt: skip
    return np.cbrt(np.clip(rgb, 0, 1) @ np.reshape(lms, (3, 3)).T) @ np.reshape(lab, (3, 3)).T


def contrast(a, b):
    high, low = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (a, b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colours():
    style = asset("colours.css")
    return {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_the_colours_can_be_told_apart(theme, vision):
    found = colours()
    points = oklab(np.array([linear(found[f"c{i}"][theme]) for i in range(20)]) @ np.reshape(VISION[vision], (3, 3)).T)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(20)
    assert apart[:8, :8].min() > 0.1
    assert apart[:14, :14].min() > 0.06
    assert apart.min() > 0.05


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_and_marks_stand_out_from_the_ground(theme):
    found = {name: pair[theme] for name, pair in colours().items()}
    for ground in ("paper", "surface", "sunken", "stage"):
        for word in ("ink", "quiet", "accent", "warning", "good"):
            assert contrast(found[word], found[ground]) >= 4.5, (word, ground)
    assert contrast(found["accent"], found["on-accent"]) >= 4.5
    for i in range(20):
        assert contrast(found[f"c{i}"], found["stage"]) >= 2.8, i
    steps = [float(oklab(linear(found[f"s{i}"]))[0]) for i in range(8)]
    assert all(abs(a - b) > 0.03 for a, b in itertools.pairwise(steps))
    assert steps == sorted(steps, reverse=theme == 0)


def test_documents_in_no_cluster_are_told_of_once():
    run = small_run()
    run = run.edited(Edit("noise", documents=(run.documents.ids[2],)))
    known = "1 document has no usable word: in no cluster (label −1)."
    for notes, told in (((), 1), ((known,), 0), (("2 rows have no text: in no cluster (label −1).",), 0)):
        said = verdict(replace(run, evidence=replace(run.evidence, warnings=notes)))
        assert [one.text for one in said].count("1 document is in no cluster.") == told
