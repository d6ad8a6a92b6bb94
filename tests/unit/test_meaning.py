"""Meaning next to words: the opening of a document, the weight of words, runs with and without the encoder."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer
from grampus.documents import Effort, Guide, cluster_within, keep_answer, predict_cost, update_run
from grampus.documents.given import large
from grampus.errors import InputError, MissingExtraError
from grampus.metrics import ari
from grampus.persist import Edit, Run
from grampus.report import report_html
from grampus.run import Processes, using
from grampus.text import Cleaning, Corpus, TermVectorizer
from grampus.text.clean import Cleaner
from grampus.text.embed.store import Store, text_key
from grampus.text.meaning import encoder, maker
from grampus.text.meaning.maker import MeaningInput
from grampus.text.meaning.opening import WORDS, opening, openings
from grampus.text.meaning.weight import SETTINGS, word_weight

CLEANER = Cleaner(Cleaning())
QUICK = Effort(stability=False)
SEA = [
    "A whale surfaced near the harbour", "Dolphins followed our ferry", "Sharks were seen off the beach",
    "An octopus hides among corals", "Seals rest upon the cliffs", "The tide carries jellyfish ashore",
    "Fishermen caught enormous tuna", "Orcas hunt in deep water", "Plankton feeds most marine life",
    "A turtle lays eggs in the sand", "Herring swim in dense shoals", "Crabs crawl over wet rocks",
]  # fmt: skip
MONEY = [
    "The bank raised its interest rate", "Shares fell on the stock exchange", "Inflation worries many investors",
    "The company reported a large profit", "Her pension fund lost value", "Taxes will increase next year",
    "The currency weakened against the dollar", "A loan must be repaid monthly", "Bond yields climbed again",
    "The budget deficit keeps growing", "Creditors demanded their payment", "Accountants audited the balance sheet",
]  # fmt: skip
TEXTS, TRUE = [*SEA, *MONEY], np.repeat([0, 1], 12)
KERNEL = "0.15 * cosine|principal(30)|normalise + 0.85 * cosine@embedding"


@pytest.fixture(autouse=True)
def _needs_the_encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))
    if encoder.encoder_digest() is None:
        pytest.skip("the extra [meaning] is not installed")


@pytest.fixture(scope="module")
def model():
    return DocumentClusterer(2, effort=QUICK).fit(TEXTS)


@pytest.fixture
def missing(monkeypatch):
    """Take the encoder away."""
    return lambda: monkeypatch.setattr(encoder, "find_encoder", lambda: None)


# -- the opening


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


# -- what is compared


def test_meaning_finds_by_default_what_words_cannot(model):
    assert ari(TRUE, model.labels_) == 1
    assert ari(TRUE, DocumentClusterer(2, embed=None, effort=QUICK).fit(TEXTS).labels_) < 0.5
    run = model.run_
    assert run.provenance.kernel == KERNEL
    record = {"name": "multilingual sentence encoder", "kind": "meaning", "sha256": encoder.encoder_digest()}
    assert run.provenance.parameters["inputs"] == {"embedding": record}
    assert run.compared == "words (15 %) and meaning (85 %)"
    assert run.compared in report_html(run)
    assert model.predict(["Salmon leap in the river", "The price of gold"]).tolist() == model.labels_[[0, 12]].tolist()


def test_the_weight_of_words_follows_the_collection_and_the_languages():
    known = np.full(9, 20)
    assert word_weight(known, {}) == word_weight(known, {"en": 9}) == 20 / (20 + SETTINGS.terms) == 0.25
    assert word_weight(known, {"en": 6, "fi": 3}) == pytest.approx(0.25 + 0.75 / 3, abs=0.005)
    assert word_weight(known, {"fi": 9}) == 1
    assert word_weight(20 * known, {}) == SETTINGS.most
    assert word_weight(known, {"en": 99, "de": 1}) == pytest.approx(0.25, abs=0.02)
    assert word_weight(known, {"en": 5, "de": 5}) == pytest.approx(0.25 / 2**3, abs=0.005)
    assert word_weight(known, dict.fromkeys(("de", "es", "fr", "ja", "pl"), 2)) == 0
    assert word_weight(known, {"en": 3, "de": 3, "fi": 3}) == pytest.approx(1 / 3 + 2 / 3 * 0.25 / 2**3, abs=0.005)
    assert word_weight(np.array([], int), {}) == word_weight(np.zeros(3, int), {"zh": 3}) == SETTINGS.least


def test_a_language_that_the_encoder_does_not_know_is_compared_by_words(monkeypatch):
    monkeypatch.setattr(MeaningInput, "fit_transform", None)  # would fail if it were called
    finnish = [
        "Valas on nisäkäs, joka elää meressä ja hengittää keuhkoilla",
        "Meri on syvä ja kylmä, eikä se ole järvi",
        "Valas elää meressä, joka on syvä",
    ]
    assert DocumentClusterer(2, effort=QUICK).fit(finnish).run_.compared == "words"
    said = TermVectorizer("lec", stemmer="fi", stop_words="fi", dtype=np.float64)
    assert DocumentClusterer(2, terms=said, effort=QUICK).fit(TEXTS).run_.compared == "words"


def test_many_languages_are_compared_by_meaning_alone():
    sea = ["The whale lives in the sea and breathes with its lungs", "Der Wal lebt im Meer und atmet mit der Lunge",
           "La baleine vit dans la mer et respire avec ses poumons", "Wieloryb żyje w morzu i oddycha płucami",
           "La ballena vive en el mar y respira con los pulmones", "Кит живёт в море и дышит лёгкими",
           "고래는 바다에 살고 폐로 숨을 쉰다"]  # fmt: skip
    money = ["The bank has raised the interest rate for all of its loans", "Die Bank hat die Zinsen für Kredite erhöht",
             "La banque a relevé les taux de tous ses crédits", "Bank podniósł oprocentowanie wszystkich kredytów",
             "El banco ha subido los tipos de interés de los préstamos", "Банк повысил проценты по всем кредитам",
             "은행은 모든 대출의 이자율을 올렸다"]  # fmt: skip
    model = DocumentClusterer(2, effort=QUICK).fit([*sea, *money])
    assert model.run_.compared == "meaning"
    assert ari(np.repeat([0, 1], 7), model.labels_) == 1
    assert model.predict(["鯨は海に住んでいる", "銀行は金利を上げた"]).tolist() == model.labels_[[0, 7]].tolist()


def test_kernels_rows_and_embeddings_of_ones_own_switch_it_off():
    rows = np.random.default_rng(0).normal(size=(24, 3))
    for options, X, compared in (
        ({"kernel": "cosine|shift"}, TEXTS, "words"),
        ({"embed": None}, TEXTS, "words"),
        ({}, rows, "numbers"),
        ({}, Corpus(TEXTS).with_input("embedding", rows), "words (15 %) and embeddings (85 %)"),
    ):
        assert DocumentClusterer(2, effort=QUICK, **options).fit(X).run_.compared == compared
    described = DocumentClusterer(2, effort=QUICK).fit(rows, corpus=Corpus(TEXTS))
    assert "inputs" not in described.run_.provenance.parameters or not described.run_.provenance.parameters["inputs"]
    alone = DocumentClusterer(2, kernel="cosine@embedding", effort=QUICK).fit(TEXTS)
    assert (alone.run_.compared, ari(TRUE, alone.labels_)) == ("meaning", 1)


def test_neither_order_nor_pieces_matter(model, tmp_path):
    order = np.random.default_rng(0).permutation(24)
    shuffled = DocumentClusterer(2, effort=QUICK).fit([TEXTS[i] for i in order])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
    scratch = DocumentClusterer(2, effort=QUICK).fit(TEXTS, scratch=tmp_path / "scratch")
    np.testing.assert_array_equal(scratch.labels_, model.labels_)


@pytest.fixture
def was_loaded(monkeypatch):
    """Forget the encoder, and let it read five texts at a time; return what tells whether this process loaded it."""
    monkeypatch.setattr(maker, "BATCH", 5)
    encoder.load_encoder.cache_clear()
    yield lambda: encoder.load_encoder.cache_info().misses > 0
    encoder.load_encoder.cache_clear()


@pytest.mark.parametrize("client", [False, True], ids=["processes", "Dask"])
@pytest.mark.slow
def test_workers_encode_and_this_process_does_not(model, was_loaded, client):
    if client:
        pytest.importorskip("distributed")
        from grampus.run.dask import connected

        with connected("local", 2) as workers:
            found = DocumentClusterer(2, effort=QUICK).fit(TEXTS, client=workers)
    else:
        with using(Processes(2, piece_bytes=300)):
            found = DocumentClusterer(2, effort=QUICK).fit(TEXTS)
    assert not was_loaded()
    np.testing.assert_array_equal(found.labels_, model.labels_)
    np.testing.assert_array_equal(found.predictor_.features["embedding"], model.predictor_.features["embedding"])
    found.predict(["A penguin"])
    assert was_loaded()


def test_more_texts_than_are_held_are_sampled_and_assigned(monkeypatch, tmp_path):
    for name, most in {"HELD_DOCUMENTS": 40, "SAMPLE": 30, "PIECE": 11}.items():
        monkeypatch.setattr(large, name, most)
    texts = [*TEXTS, *(f"{text}, they say" for text in TEXTS)]
    model = DocumentClusterer(2, effort=QUICK).fit(texts)
    assert (model.run_.provenance.collection["shown"], model.run_.provenance.kernel) == (30, KERNEL)
    assert ari([*TRUE, *TRUE], model.labels_) == 1
    scratch = DocumentClusterer(2, effort=QUICK).fit(texts, scratch=tmp_path / "scratch")
    np.testing.assert_array_equal(scratch.labels_, model.labels_)
    order = np.random.default_rng(0).permutation(48)
    monkeypatch.setattr(large, "PIECE", 20)
    shuffled = DocumentClusterer(2, effort=QUICK).fit([texts[i] for i in order])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
    model.save(tmp_path / "run")
    np.testing.assert_array_equal(grampus.load(tmp_path / "run").predict(texts), model.labels_)


@pytest.mark.slow
def test_workers_assign_more_texts_than_are_held(monkeypatch, was_loaded):
    for name, most in {"HELD_DOCUMENTS": 20, "SAMPLE": 16, "PIECE": 7}.items():
        monkeypatch.setattr(large, name, most)
    with using(Processes(2, piece_bytes=300)):
        found = DocumentClusterer(2, effort=QUICK).fit(TEXTS)
    assert not was_loaded()
    np.testing.assert_array_equal(found.labels_, DocumentClusterer(2, effort=QUICK).fit(TEXTS).labels_)


def test_the_second_time_comes_from_the_cache(model, monkeypatch):
    first = MeaningInput().fit_transform(Corpus(TEXTS))
    monkeypatch.setattr("grampus.text.embed.model.load_encoder", None)  # would fail if it were called
    np.testing.assert_array_equal(MeaningInput().fit_transform(Corpus(TEXTS)), first)
    np.testing.assert_array_equal(first, first.astype(np.float32))


def test_the_cost_of_encoding_is_predicted():
    with_it, without = (predict_cost(DocumentClusterer(2, embed=embed), TEXTS * 50) for embed in ("auto", None))
    assert with_it.memory > without.memory + 100_000_000
    assert with_it.seconds > without.seconds


# -- saved runs


def test_a_saved_run_assigns_and_is_updated(model, tmp_path):
    model.save(tmp_path / "run")
    again = grampus.load(tmp_path / "run")
    assert again.embed == "auto"
    new = ["Salmon leap in the river", "The price of gold"]
    np.testing.assert_array_equal(again.assign(new).margin, model.assign(new).margin)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again.predictor_.makers))["embedding"].transform(
        Corpus(new)), model.predictor_.makers["embedding"].transform(Corpus(new)))  # fmt: skip
    later = update_run(Run.load(tmp_path / "run"), new)
    assert later.provenance.kernel == KERNEL
    assert later.evidence.labels[-2:].tolist() == model.labels_[[0, 12]].tolist()
    grown = update_run(later, [f"{text} again" for text in TEXTS])  # terms are learned anew
    assert ari([*TRUE, 0, 1, *TRUE], grown.evidence.labels) == 1


def test_a_run_without_the_encoder_is_read_and_refuses_new_documents(model, tmp_path, missing):
    model.save(tmp_path / "run")
    missing()
    run = Run.load(tmp_path / "run")
    assert "words (15 %) and meaning (85 %)" in report_html(run)
    assert run.edited(Edit("rename", (0,), name="Sea")).evidence.clusters[0].name == "Sea"
    loaded = grampus.load(tmp_path / "run")
    for refused in (
        lambda: loaded.predict(["a whale"]),
        lambda: loaded.assign(["a whale"]),
        lambda: update_run(run, ["a whale"]),
        lambda: update_run(run, delete=["1"]),
    ):
        with pytest.raises(MissingExtraError, match=r'pip install "grampus\[meaning\]"') as caught:
            refused()
        assert "\n" not in str(caught.value)


def test_a_run_of_other_weights_refuses_new_documents(model, tmp_path, monkeypatch):
    model.save(tmp_path / "run")
    monkeypatch.setattr(encoder, "ARITHMETIC", -1)
    for refused in (lambda: grampus.load(tmp_path / "run").predict(["a whale"]),
                    lambda: update_run(Run.load(tmp_path / "run"), ["a whale"])):  # fmt: skip
        with pytest.raises(InputError, match="the model of the run"):
            refused()
    with pytest.raises(ValueError, match="digest"):
        MeaningInput.unpack({"sha256": None, "clean": None}, {})


def test_without_the_encoder_short_texts_are_told_what_they_would_gain(missing):
    missing()
    model = DocumentClusterer(2, effort=QUICK).fit(TEXTS)
    assert model.run_.compared == "words"
    assert sum("grampus[meaning]" in note for note in model.run_.evidence.warnings) == 1
    long = [f"{text} {' '.join(SEA + MONEY)} {number}x" for number, text in enumerate(TEXTS)]
    for options, texts in (({}, long), ({"embed": None}, TEXTS), ({"kernel": "cosine"}, TEXTS)):
        notes = DocumentClusterer(2, effort=QUICK, **options).fit(texts).run_.evidence.warnings
        assert not any("grampus[meaning]" in note for note in notes)
    with pytest.raises(MissingExtraError):
        DocumentClusterer(2, kernel="cosine@embedding", effort=QUICK).fit(TEXTS)


def test_forgetting_leaves_no_row_of_an_opening():
    corpus = Corpus([f"<b>{text}</b>" for text in TEXTS], titles=[f"Title {n}" for n in range(24)])
    run = DocumentClusterer(2, effort=QUICK).fit(corpus).run_
    keys = [text_key(one) for one in openings(corpus, Cleaning())]
    store = Store(str(encoder.encoder_digest()))
    assert len(store.read(keys)) == 24
    update_run(run, delete=["1", "2"])
    assert set(store.read(keys)) == set(keys[2:])


def test_within_keep_guides_and_outliers(model):
    run = model.run_
    inside = cluster_within(run, int(model.labels_[0]), DocumentClusterer(2, effort=QUICK))
    assert inside.edits[-1].action == "graft"
    kept = keep_answer(DocumentClusterer(2, effort=QUICK, random_state=1).fit(TEXTS).run_, run)
    np.testing.assert_array_equal(kept.evidence.labels, run.evidence.labels)
    told = Guide(labels={0: "sea", 12: "money"})
    guided = DocumentClusterer(2, effort=QUICK).fit(TEXTS, guide=told)
    assert ari(TRUE, guided.labels_) == 1
    assert {cluster.name for cluster in guided.clusters_} == {"sea", "money"}
    odd = DocumentClusterer(2, outliers=0.1, effort=QUICK).fit(TEXTS)
    assert (odd.labels_ < 0).sum() <= 2


def test_a_kernel_that_cannot_be_read_is_told_as_it_is_spelt(model):
    strange = replace(model.run_, provenance=replace(model.run_.provenance, kernel="a kernel of tomorrow"))
    assert strange.compared == "a kernel of tomorrow"
