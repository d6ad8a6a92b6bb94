"""Names of clusters: words as written, nothing twice, no remains of machines, and names from elsewhere."""

import json
import random
import sys

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.describe import Known, NameCommand, Wording, ask_names, name_levels, name_partition, name_tree
from grampus.describe.candidates import Candidate, same_word
from grampus.describe.names import _LOOSE, _furthered
from grampus.describe.reading import read_words
from grampus.describe.sentences import most_typical, quotable, sentences
from grampus.describe.titles import give_titles
from grampus.describe.wording import is_word
from grampus.documents import Effort, with_names, with_names_of, write_names
from grampus.errors import InputError
from grampus.text import Terms, TermVectorizer, stop_words

STOPS = stop_words("smart")
SPACE = ["The modules of NASA went to orbit", "A module in orbit, says NASA", "NASA builds modules for an orbit"]
PEACE = ["People of Israel and Israeli people", "The people in Israel want peace", "In Israel the people met"]


def wording(texts, **options):
    terms = TermVectorizer()
    weights = terms.fit_transform(texts)
    return Wording(weights, terms.get_feature_names_out(), texts, terms.forms_, STOPS, **options)


def names(texts, labels):
    return [", ".join((name.name, *name.words)) for name in name_partition(wording(texts), labels)]


def test_forms_are_counted_over_all_documents():
    forms = Terms().fit(["Modules MODULES modules", "module NASA", "nasa NASA"]).forms_
    assert forms.usual("modul") == "modules"
    assert forms.cased("nasa") == "NASA"
    assert forms.usual("unknown") == "unknown"


def test_case_is_folded_as_before():
    texts = ["ΟΔΟΣ Straße İstanbul Whale", "whale WHALE οδος"]
    assert Terms(stemmer=None).fit(texts).get_feature_names_out().tolist() == sorted(
        set(" ".join(texts).lower().replace("i̇", "i̇").replace("̇", " ").split()) - {"i"}
    )


def test_names_are_words_as_they_are_written():
    space, peace = names(SPACE + PEACE, [0, 0, 0, 1, 1, 1])
    assert "NASA" in space
    assert "orbit" in space
    assert "modul," not in f"{space},"
    assert "peopl," not in f"{peace},"
    assert "Israel" in peace
    assert "Israeli" not in peace


def test_phrases_stay_within_a_line_and_a_sentence():
    apart = ["We saw it hard\ndrive away", "It was hard. Drive on", "So hard\ndrive"] * 2
    other = ["blue whale sings", "a blue whale", "the blue whale dives"] * 2
    broken, whole = name_partition(wording(apart + other), [0] * 6 + [1] * 6)
    assert not any("hard drive" in phrase.text.lower() for phrase in broken.phrases)
    assert whole.name == "Blue whale"


@pytest.mark.parametrize(("one", "other"), [("israel", "israeli"), ("medicine", "medical"), ("drive", "drive")])
def test_forms_of_one_word_are_alike(one, other):
    assert same_word(one, other)
    assert same_word(other, one)


@pytest.mark.parametrize(("one", "other"), [("card", "care"), ("12345", "12346"), ("whale", "bird")])
def test_other_words_are_not_alike(one, other):
    assert not same_word(one, other)


@pytest.mark.parametrize("token", ["12644", "1990s", "x", "the", "qxzkjw", "a1b2c3"])
def test_remains_are_no_words(token):
    assert not is_word(token, STOPS)


def test_numerals_name_nothing_alone():
    wars = ["After World War II the island was free", "World War II ended", "It fought in World War II and before"] * 2
    other = ["blue whale sings", "a blue whale", "the blue whale dives"] * 2
    first, _ = names(wars + other, [0] * 6 + [1] * 6)
    assert "II" not in first.split(", ")


def test_headers_and_addresses_are_hidden():
    mail = "From: geb@cs.pitt.edu (Gordon)\nOrganization: Pitt\nSubject: Re: kidney stones\n\nSee http://x.org/a. Bye\n"
    found = read_words([mail])
    shown = {found.words[at] for at in found.word}
    hidden = {found.words[at] for at in found.hidden_word}
    assert {"kidney", "stones", "See", "Bye"} <= shown
    assert {"pitt", "Pitt", "Organization", "org"} <= hidden
    assert not shown & {"pitt", "Pitt", "org", "Gordon"}


def test_words_of_headers_do_not_name_a_cluster():
    mails = [f"From: joe@netcom.com\nOrganization: Netcom\nLines: {n}\n\nThe doctor saw a patient" for n in range(6)]
    other = ["From: a@b.org\nOrganization: Home\nLines: 3\n\nThe orbit of a shuttle"] * 6
    first, _ = names(mails + other, [0] * 6 + [1] * 6)
    assert "netcom" not in first.lower()
    assert "doctor" in first.lower()


def test_lines_of_a_form_do_not_name_a_cluster():
    form = "see below for the full list of generic methods"
    whales = [f"Whale {word} dives\n`{word}` inherits: {form}" for word in ("ab", "cd", "ef", "gh", "ij", "kl")]
    first, _ = names([*whales, *(f"Bird {n} nests\nin the air" for n in range(6))], [0] * 6 + [1] * 6)
    assert "whale" in first.lower()
    assert "generic" not in first
    assert "list" not in first


def test_a_text_of_shared_lines_only_keeps_its_words():
    first, _ = names(["A whale dives deep\ninto the cold sea"] * 6 + ["A bird\nin its nest"] * 6, [0] * 6 + [1] * 6)
    assert "whale" in first.lower()


def test_words_without_spaces_make_no_phrases():
    found = read_words(["errno を適切に設定"], lambda word: ["適切", "設定"])
    assert [found.words[number] for number in found.word] == ["errno", "適切", "設定"]
    assert not found.joined.any()


def test_a_hostile_text_is_read_in_time():
    texts = ["-- \n" * 800, "a:" * 2000, "x" * 5000, "> " * 2000, "/a" * 2000, "-- \n" + "\n".join("ab" * 20), ""]
    assert len(read_words(texts).words) < 100


def test_no_two_clusters_have_the_same_name():
    texts = ["whale song sea"] * 4 + ["whale song sea"] * 4 + ["bird nest"] * 4
    found = names(texts, [0] * 4 + [1] * 4 + [2] * 4)
    assert len({name for name in found if name}) == len([name for name in found if name])


def test_names_of_levels_fit_together():
    whale, seal, bird = ["sea whale song"] * 4, ["sea seal fur"] * 4, ["nest bird wing"] * 4
    fine = [0] * 4 + [1] * 4 + [2] * 4
    coarse, parts = name_levels(wording(whale + seal + bird), [[0] * 8 + [1] * 4, fine])
    assert "Sea" in coarse[0].name
    assert "whale" not in (coarse[0].name, *coarse[0].words)
    assert "whale" in parts[0].name.lower()
    assert "seal" in parts[1].name.lower()
    assert "sea" not in parts[0].words


def test_the_nodes_of_a_tree_are_named():
    whale, seal, bird = ["sea whale song"] * 4, ["sea seal fur"] * 4, ["nest bird wing"] * 4
    leaves = [3] * 4 + [4] * 4 + [2] * 4
    found = name_tree(wording(whale + seal + bird), leaves, [-1, 0, 0, 1, 1], {0: ["All"]})
    assert found[0].name == "All"
    assert found[1].name == "Sea"
    assert "whale" in found[3].name.lower()


def test_names_do_not_depend_on_the_order_of_documents():
    texts = [f"{text} {n}" for n, text in enumerate(SPACE * 3 + PEACE * 3)]
    run = DocumentClusterer(2).fit(texts).run_
    again = DocumentClusterer(2).fit(texts[::-1]).run_
    assert [one.name for one in run.evidence.clusters] == [one.name for one in again.evidence.clusters]
    assert [one.sentence for one in run.evidence.clusters] == [one.sentence for one in again.evidence.clusters]


def test_a_table_without_texts_keeps_its_columns():
    assert [n.name for n in name_partition(Wording(np.eye(2), ["#10001", "#10002"]), [0, 1])] == ["#10001", "#10002"]


def test_terms_must_name_the_columns():
    with pytest.raises(InputError, match="each of the 2 columns"):
        Wording(np.eye(2), ["x"])


def test_a_sentence_is_complete_and_holds_the_words():
    text = "Whales\n\nit was late. The blue whale sang\nto its calf. Mail joe@x.org about a whale calf now. whale calf"
    assert sentences(text) == ["Whales", "The blue whale sang to its calf."]
    assert most_typical(quotable([text], str), ["whale", "calf"]) == "The blue whale sang to its calf."
    assert most_typical(quotable([text], str), ["bird"]) == ""
    assert most_typical(quotable([text], str, ["The whale and the sea"]), ["whale"]) == "The whale and the sea"


# -- names from elsewhere


def two():
    return [Known(i, 2, word, (word,), (), (), ()) for i, word in enumerate(("whale", "bird"))]


def program(code):
    return NameCommand(f'"{sys.executable}" -c "{code}"', timeout=20)


@pytest.mark.parametrize(
    ("given", "expected", "reason"),
    [
        (["Sea", "Air"], ("Sea", "Air"), ""),
        ({"names": ["Sea", None]}, ("Sea", "bird"), ""),
        ({"1": "Air"}, ("whale", "Air"), ""),
        (["Sea", "sea "], ("Sea", "bird"), "the same"),
        (["a\nb", "Air"], ("whale", "Air"), "one line"),
        (["\u202ebad", 3], ("whale", "bird"), "2 of 2"),
        (["", "x" * 81], ("whale", "bird"), "2 of 2"),
        (["Sea"], ("whale", "bird"), "a list of 2 names"),
        ("Sea", ("whale", "bird"), "a list of 2 names"),
    ],
)
def test_names_are_checked(given, expected, reason):
    found = ask_names(lambda request: given, "fine", two())
    assert found.names == expected
    assert reason in found.warning
    assert bool(reason) == bool(found.warning)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import time; time.sleep(60)", "longer than 0.5 seconds"),
        ("import sys; sys.exit('no model')", "code 1 (no model)"),
        ("print('Here are your names: Sea')", "did not print JSON"),
        ("print('x' * 10_000_000)", "more than 1 MB"),
    ],
)
def test_a_program_that_misbehaves_leaves_the_names_alone(code, reason):
    command = NameCommand(program(code).command, timeout=0.5 if "sleep" in code else 20)
    found = ask_names(command, "fine", two())
    assert found.names == ("whale", "bird")
    assert reason in found.warning
    assert "\n" not in found.warning


def test_a_program_that_is_not_there():
    assert "cannot be started" in ask_names(NameCommand("no-such-program-here"), "fine", two()).warning
    with pytest.raises(InputError, match="command line"):
        ask_names(NameCommand("'open"), "fine", two())


def test_an_exception_is_a_warning():
    found = ask_names(lambda request: request["nothing"], "fine", two())
    assert found.names == ("whale", "bird")
    assert "KeyError" in found.warning


def test_names_are_asked_for_once():
    run = DocumentClusterer(2).fit(SPACE + PEACE).run_
    asked = []

    def namer(request):
        asked.append(request)
        return ["One", "Two"]

    named = with_names(run, namer)
    again = with_names(run, namer, named)
    assert len(asked) == 1
    assert [one.name for one in again.evidence.clusters] == ["One", "Two"]
    assert {"One", "Two"} <= {branch.name for branch in again.evidence.tree}
    assert asked[0]["clusters"][0]["texts"]
    assert asked[0]["clusters"][0]["siblings"]


def test_the_clusterer_takes_a_namer(tmp_path):
    model = DocumentClusterer(2, names=lambda request: ["One", "Two"]).fit(SPACE + PEACE)
    assert [one.name for one in model.clusters_] == ["One", "Two"]
    model.save(tmp_path / "run")
    assert [one.name for one in DocumentClusterer.load(tmp_path / "run").clusters_] == ["One", "Two"]
    with pytest.raises(InputError, match="names must be"):
        DocumentClusterer(2, names="One").fit(SPACE + PEACE)


def test_names_of_a_file_are_matched_by_documents(tmp_path):
    file = tmp_path / "names.json"
    run = DocumentClusterer(2).fit(SPACE + PEACE).run_
    file.write_text(json.dumps({"Space flight": ["1", "2", "99"], "Nowhere": ["98"]}))
    found = with_names_of(run, file)
    assert found.evidence.clusters[found.evidence.labels[0]].name == "Space flight"
    assert any("Nowhere" in note for note in found.evidence.warnings)
    write_names(found, file)
    more = DocumentClusterer(2).fit([*SPACE, *PEACE, "NASA orbit module"]).run_
    again = with_names_of(more, file)
    assert again.evidence.clusters[again.evidence.labels[0]].name == "Space flight"


@pytest.mark.parametrize("content", ["[1]", "{", '{"a": [1]}', '{"": ["1"]}', '{"a": "1"}'])
def test_other_files_of_names_are_refused(tmp_path, content):
    file = tmp_path / "names.json"
    file.write_text(content)
    run = DocumentClusterer(2).fit(SPACE + PEACE).run_
    with pytest.raises(InputError, match="names"):
        with_names_of(run, file)


def test_no_two_titles_of_a_level_are_forms_of_one_word_whoever_their_parents_are():
    taken: set[str] = set()
    one = give_titles({0: [Candidate(1.0, "libraries", ("librari",))]}, [], [], taken)
    other = give_titles(
        {1: [Candidate(1.0, "library", ("librari",)), Candidate(0.5, "fonts", ("font",))]}, [], [], taken
    )
    assert (one[0].text, other[1].text) == ("libraries", "fonts")


def test_a_title_shares_a_word_with_that_of_a_sibling_only_where_there_is_no_other():
    net, loss, quarter = (Candidate(score, text, stems) for score, text, stems in (
        (0.9, "net income", ("net", "incom")), (1.0, "net loss", ("net", "loss")), (0.1, "quarter", ("quarter",))
    ))  # fmt: skip
    assert [one.text for _, one in sorted(give_titles({0: [net, quarter], 1: [loss]}, [], [], set()).items())] == [
        "quarter", "net loss",
    ]  # fmt: skip
    assert give_titles({0: [net, quarter]}, [loss], [], set())[0] == quarter
    assert give_titles({0: [net]}, [loss], [], set())[0].text == "income"
    assert give_titles({0: [net, quarter]}, [], [loss], set())[0] == net  # a part may share one with its parent
    assert give_titles({0: [net]}, [loss], [quarter], set())[0] == net  # and with another part


def test_of_two_titles_with_a_word_in_common_the_phrase_is_left_without_it():
    files, both = Candidate(0.5, "files", ("file",)), Candidate(0.9, "development files", ("develop", "file"))
    three = Candidate(0.4, "open sound files", ("open", "sound", "file"))
    named = give_titles({0: [files], 1: [both], 2: [three]}, [], [], set())
    assert [named[group].text for group in range(3)] == ["files", "development", "open sound"]
    library = Candidate(1.0, "library", ("librari",))
    toolkit = Candidate(0.01, "toolkit", ("toolkit",))  # tells little, but nobody else has it
    named = give_titles(
        {0: [files], 1: [library], 2: [Candidate(0.9, "library files", ("librari", "file")), toolkit]}, [], [], set()
    )
    assert [named[group].text for group in range(3)] == ["files", "library", "toolkit"]
    shared = Candidate(0.9, "shared library", ("share", "librari"))
    named = give_titles({0: [library], 1: [shared]}, [], [], set())
    assert [named[group].text for group in range(2)] == ["library", "shared library"]  # "shared" alone names nothing


def test_a_name_has_one_phrase_with_a_link():
    title = Candidate(1.0, "glibc", ("glibc",))
    one = Candidate(0.9, "chaîne de caractères", ("chaîn", "de", "caracter"))
    other = Candidate(0.8, "sécurité des threads", ("sécur", "des", "thread"))
    assert _furthered(title, [one, other], [], None, np.array([True])) == [title, one]


def test_a_title_in_few_documents_is_too_specific():
    team, league = (
        Candidate(0.5, "team", ("team",), share=0.4),
        Candidate(0.9, "Champions League", ("champion", "leagu"), share=0.05),
    )
    assert team.as_title > league.as_title
    assert league._replace(share=0.4).as_title > team.as_title


def test_verbs_and_spans_of_time_do_not_name():
    loose = ("Supports SSL certificates", "zeigt", "years", "Fri", "July", "judges appointed", "3-year plan")
    assert all(map(_LOOSE.search, loose))
    assert not any(map(_LOOSE.search, ("Support", "SSL certificates", "day care", "sun", "yearbook", "user")))


def test_siblings_share_one_of_their_first_three_words_at_most():
    title, bank, rate, oil = (Candidate(1.0, text, (text,)) for text in ("loans", "bank", "rate", "oil"))
    sibling = [Candidate(1.0, "credit", ("credit",)), bank, rate]
    found = _furthered(title, [bank, rate, oil], [sibling], None, np.array([True]))
    assert [one.text for one in found] == ["loans", "bank", "oil"]
    assert _furthered(title, [bank, rate, oil], [], None, np.array([True])) == [title, bank, rate, oil]


def test_a_cluster_whose_best_title_is_taken_has_one_that_says_less():
    shared, own, other = np.eye(3, dtype=int)  # "trump" in all of two clusters, "tax" and "wall" in three documents
    rows = [*[shared] * 397, *[shared + own] * 3, *[shared] * 397, *[shared + other] * 3]
    rows = np.pad(np.array(rows), ((0, 400), (0, 1)))
    rows[800:, 3] = 1
    titles = [
        one.name for one in name_partition(Wording(rows, ["trump", "tax", "wall", "whale"]), np.repeat([0, 1, 2], 400))
    ]
    assert sorted(titles) in (["tax", "trump", "whale"], ["trump", "wall", "whale"])


def test_a_table_of_codes_is_named_by_its_words_where_it_has_some():
    rng = random.Random(0)
    codes = [[f"{n} {n + 60} {n + 120}" for n in rng.sample(range(160, 260), 8)] for _ in range(20)]
    tables = ["\n".join(["Oct Dec Hex", *rows]) for rows in codes]
    sea = ["whales", "dolphins", "swim", "deep", "ocean", "water", "sing", "songs", "calves", "pods", "fins", "tail"]
    texts = tables + [" ".join(rng.sample(sea, 8)) for _ in range(20)]
    model = DocumentClusterer(2, embed=None, effort=Effort(stability=False)).fit(texts)
    name = model.clusters_[int(model.labels_[0])]
    assert {name.name, *name.words} <= {"Oct", "Dec", "Hex"}
