"""Corpora with named inputs: kernels over several of them, copies, empty documents, prediction and saved runs."""

import hashlib
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import grampus
from grampus import Corpus, DocumentClusterer, parse_kernel
from grampus.cluster import PDDP, KernelKMeans, kernel_kmeans
from grampus.documents import Effort
from grampus.documents.given.inputs import collect
from grampus.errors import CorpusError, InputError, RunError
from grampus.gram import DenseGram, shift
from grampus.select.checkpoint import fingerprint
from grampus.text import ReadOptions, Texts, read_corpus
from grampus.text.inputs import register_maker

SEA = ["whale song in the deep sea", "deep sea whale", "song of the whale", "the sea and a whale", "whales sing deep"]
AIR = ["a bird in the old tree", "bird nest in a tree", "the tree and its birds", "old nest of a bird", "birds nest"]
TEXTS = [*SEA, *AIR]
BOTH = "0.5 * cosine|principal(auto)|normalise + 0.5 * cosine@embedding"
QUICK = Effort(stability=False, n_init=3)


def embed(texts, width=8):
    """Return a row for each text that depends on it alone."""
    seeds = [int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts]
    return np.array([np.random.default_rng(seed).standard_normal(width) for seed in seeds]).reshape(-1, width)


def corpus_of(texts, **options):
    corpus = Corpus(texts, **options)
    return corpus.with_input("embedding", embed(texts)) if len(texts) else corpus


def fit(kernel=BOTH, k=2, corpus=None, **options):
    corpus = corpus_of(TEXTS) if corpus is None else corpus
    return DocumentClusterer(k, kernel=kernel, effort=QUICK, **options).fit(corpus)


def test_a_corpus_carries_inputs():
    corpus = Corpus(["a", "b", "c"], ids=["x", "y", "z"])
    rows = np.arange(6.0).reshape(3, 2)
    both = corpus.with_input("embedding", rows).with_input("year", [1990, 2000, 2010])
    assert both.inputs["year"].shape == (3, 1)
    assert "@embedding, @year" in repr(both)
    assert not corpus.inputs
    part = both.take([2, 0])
    assert part.inputs["embedding"].tolist() == rows[[2, 0]].tolist()
    assert both.take([True, False, False]).inputs["year"].tolist() == [[1990.0]]
    sparse = corpus.with_input("links", sp.eye_array(3).tocsc()).take([1])
    assert sparse.inputs["links"].toarray().tolist() == [[0.0, 1.0, 0.0]]
    by_id = corpus.with_input("embedding", rows, ids=["z", "x", "y"])
    assert by_id.inputs["embedding"].tolist() == rows[[1, 2, 0]].tolist()
    more = corpus.take([1]).with_input("embedding", rows, ids=["x", "y", "z"])
    assert more.inputs["embedding"].tolist() == [[2.0, 3.0]]


def test_corpora_are_equal_with_equal_inputs():
    corpus, rows = Corpus(["a", "b"]), np.eye(2)
    assert corpus.with_input("e", rows) == corpus.with_input("e", rows.copy())
    assert corpus.with_input("e", rows) != corpus
    assert corpus.with_input("e", rows) != corpus.with_input("e", 2 * rows)
    assert corpus.with_input("e", rows) != corpus.with_input("e", sp.csr_array(rows))
    assert corpus.with_input("e", sp.csr_array(rows)) == corpus.with_input("e", sp.csr_array(rows))
    assert corpus == Corpus(["a", "b"])
    assert corpus != "a"


@pytest.mark.parametrize(
    ("name", "rows", "options", "said"),
    [
        ("embedding", np.ones((3, 2)), {}, "one row per document, 2; got 3"),
        ("embedding", [[1.0, np.nan], [0.0, 1.0]], {}, "NaN"),
        ("embedding", [["a"], ["b"]], {}, "embedding"),
        ("embedding", np.ones((2, 2, 2)), {}, "embedding"),
        ("terms", np.ones((2, 2)), {}, "weighted terms"),
        ("text", ["a", "b"], {}, "strings"),
        ("my-rows", np.ones((2, 2)), {}, "letters, digits"),
        ("", np.ones((2, 2)), {}, "letters, digits"),
        ("embedding", np.ones((2, 2)), {"ids": ["1", "3"]}, "1 of 2 have none, such as '2'"),
        ("embedding", np.ones((3, 2)), {"ids": ["1", "2"]}, "one value per row"),
        ("embedding", np.ones((2, 2)), {"ids": ["1", "1"]}, "more than once"),
    ],
)
def test_what_is_no_input(name, rows, options, said):
    with pytest.raises(CorpusError, match=said):
        Corpus(["a", "b"]).with_input(name, rows, **options)


CSV = b"text,year,Price\nwhale song,1990,1.5\nbird song,2000,-2\n,2010,3\n"


def test_columns_of_numbers_are_read_by_name(tmp_path):
    options = ReadOptions(numbers=("year", "Price"))
    corpus = read_corpus(io.BytesIO(CSV), format="csv", options=options)
    assert corpus.inputs["year"].tolist() == [[1990.0], [2000.0]]
    assert corpus.inputs["Price"].tolist() == [[1.5], [-2.0]]
    rows = b'{"body": "whale", "e": [1, 2]}\n{"body": "bird", "e": [3, 4.5]}\n'
    listed = read_corpus(io.BytesIO(rows), format="jsonl", text="body", options=ReadOptions(numbers=["e"]))
    assert listed.inputs["e"].tolist() == [[1.0, 2.0], [3.0, 4.5]]
    skipping = ReadOptions(numbers=["year"], on_error="skip")
    assert len(read_corpus(io.BytesIO(b"text,year\na,1990\nb,\n"), format="csv", options=skipping)) == 1
    model = DocumentClusterer(2, kernel="gaussian(5)@year", effort=QUICK).fit(corpus)
    assert sorted(model.labels_.tolist()) == [0, 1]


def test_columns_of_a_frame_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": ["whale", "bird", None], "year": [1, 2, 3]})
    assert read_corpus(frame, options=ReadOptions(numbers=["year"])).inputs["year"].tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("data", "columns", "said"),
    [
        (CSV, ("yaer",), r"line 2 has no column 'yaer' \(did you mean 'year'\?\)"),
        (b"text,year\na,1990\nb,\n", ("year",), "line 3 must have a finite number in column 'year'"),
        (b"text,year\na,x\n", ("year",), "line 2 must have a finite number"),
        (b"text,year\na,1e999\n", ("year",), "finite number"),
        (b"text,my year\na,1\n", ("my year",), "letters, digits and underscores"),
    ],
)
def test_what_is_no_column_of_numbers(data, columns, said):
    with pytest.raises(CorpusError, match=said):
        read_corpus(io.BytesIO(data), format="csv", options=ReadOptions(numbers=columns))


def test_lists_of_numbers_are_of_one_length_and_names_are_checked():
    rows = b'{"text": "whale", "e": [1, 2]}\n{"text": "bird", "e": [3]}\n'
    with pytest.raises(CorpusError, match="as many numbers as the others"):
        read_corpus(io.BytesIO(rows), format="jsonl", options=ReadOptions(numbers=["e"]))
    for wrong in ("year", [1]):
        with pytest.raises(InputError, match="names of columns"):
            ReadOptions(numbers=wrong)


def test_terms_and_embeddings_are_clustered_together(tmp_path):
    model = fit()
    assert model.run_.provenance.kernel == "0.5 * cosine|principal(30)|normalise + 0.5 * cosine@embedding"
    assert model.run_.provenance.parameters["kernel"] == BOTH
    new = corpus_of(["a song of the deep sea", "an old tree", "xyz"])
    found = model.assign(new)
    assert found.known.all()  # an embedding says something of a text without terms
    assert model.predict(corpus_of(TEXTS)).tolist() == model.labels_.tolist()
    model.save(tmp_path / "run")
    again = grampus.load(tmp_path / "run").assign(new)
    assert again.labels.tolist() == found.labels.tolist()
    np.testing.assert_array_equal(again.margin, found.margin)
    assert len(model.assign(corpus_of([])).labels) == 0
    names = " ".join(" ".join((one.name, *one.words)).lower() for one in model.clusters_)
    assert "whale" in names or "nest" in names  # names come from the words


def test_embeddings_decide_where_the_kernel_says_so():
    rows = np.repeat(np.eye(2), 5, axis=0)[[0, 5, 1, 6, 2, 7, 3, 8, 4, 9]]
    model = fit("cosine@embedding", corpus=Corpus(TEXTS).with_input("embedding", rows))
    assert len(set(model.labels_[::2])) == len(set(model.labels_[1::2])) == 1
    assert model.labels_[0] != model.labels_[1]
    mixed = fit("0.001 * cosine + cosine@embedding", corpus=Corpus(TEXTS).with_input("embedding", rows))
    assert grampus.metrics.ari(mixed.labels_, model.labels_) == 1.0


@pytest.mark.parametrize("kernel", [BOTH, "(cosine + gaussian(2)@embedding)|shift", "cosine * gaussian(9)@embedding"])
def test_the_order_of_documents_does_not_matter(kernel):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    whole = corpus_of(TEXTS)
    first, second = fit(kernel, 3, whole), fit(kernel, 3, whole.take(order))
    assert first.labels_[order].tolist() == second.labels_.tolist()


def test_copies_are_equal_in_every_input():
    texts = [*TEXTS, TEXTS[0], TEXTS[0]]
    rows = embed(texts)
    rows[-1] = -rows[-1]  # the same text, with another embedding
    inputs = collect(Corpus(texts).with_input("embedding", rows), parse_kernel(BOTH), None)
    assert inputs.group[0] == inputs.group[10] != inputs.group[11]
    assert sorted(inputs.weights.tolist()) == [1.0] * 10 + [2.0]
    assert list(inputs.features) == ["terms", "embedding"]
    model = fit(corpus=Corpus(texts).with_input("embedding", rows))
    assert model.labels_[0] == model.labels_[10]
    assert {(0, 10), (0, 11)} <= {tuple(pair) for pair in model.duplicates_.tolist()}


def test_a_document_is_empty_if_nothing_is_to_compare_in_any_input():
    texts = [*TEXTS, "", "", "!"]
    rows = embed(texts)
    rows[-1] = 0.0
    corpus = Corpus(texts).with_input("embedding", rows)
    inputs = collect(corpus, parse_kernel(BOTH), None)
    assert inputs.empty()[inputs.group].sum() == 1
    assert inputs.weights[inputs.group[-1]] == 0
    assert inputs.weights[inputs.group[-2]] == 2

    def count(kernel):
        inputs = collect(corpus, parse_kernel(kernel), None)
        return int(inputs.empty()[inputs.group].sum())

    assert count("cosine * cosine@embedding") == 3  # in a product, of any
    assert count("cosine@embedding") == 1
    assert count("gaussian(1)@embedding") == 0
    assert count("cosine") == 3
    model = fit(corpus=corpus)
    assert any("1 document has no usable word" in note for note in model.run_.evidence.warnings)
    assert model.assign(corpus).known.tolist() == [True] * 12 + [False]


@pytest.mark.parametrize(
    "kernel", ["cosine + spectrum(3)|normalise", "(spectrum(3) + spectrum(2))|normalise", "2 * spectrum(3)|normalise"]
)
def test_strings_and_terms_together(kernel, tmp_path):
    model = fit(kernel, corpus=Corpus(TEXTS))
    assert model.predict(TEXTS).tolist() == model.labels_.tolist()
    assert any("whale" in cluster.name.lower() for cluster in model.clusters_)
    model.save(tmp_path / "run")
    assert grampus.load(tmp_path / "run").predict(TEXTS).tolist() == model.labels_.tolist()
    model.save(tmp_path / "bare", texts=False)
    with pytest.raises(RunError, match="cannot assign"):
        grampus.load(tmp_path / "bare").predict(TEXTS)


def test_rows_of_a_matrix_and_inputs_of_their_corpus(tmp_path):
    matrix = sp.csr_array(np.random.default_rng(0).random((10, 30)) * (np.random.default_rng(1).random((10, 30)) < 0.2))
    corpus = corpus_of(TEXTS)
    model = DocumentClusterer(2, kernel="cosine + cosine@embedding", effort=QUICK).fit(matrix, corpus=corpus)
    assert model.n_clusters_ == 2
    with pytest.raises(InputError, match="with the matrix as one of its inputs"):
        model.assign(corpus)
    as_input = corpus.with_input("mine", matrix)
    other = fit("cosine@mine + cosine@embedding", corpus=as_input)
    assert other.labels_.tolist() == model.labels_.tolist()
    other.save(tmp_path / "run")
    assert grampus.load(tmp_path / "run").predict(as_input).tolist() == other.labels_.tolist()
    strings = DocumentClusterer(2, kernel="cosine + spectrum(3)", effort=QUICK)
    with pytest.raises(InputError, match="takes texts"):
        strings.fit(matrix)
    assert strings.fit(matrix, corpus=corpus).n_clusters_ == 2


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ("cosine@vectors", "reads the input 'vectors'; the corpus has 'embedding'"),
        ("precomputed + cosine", "takes a Gram matrix"),
    ],
)
def test_inputs_that_are_missing_are_named(kernel, said):
    with pytest.raises(InputError, match=said):
        fit(kernel)


def test_new_documents_need_the_same_inputs():
    model = fit()
    with pytest.raises(InputError, match="must have the input 'embedding'"):
        model.assign(["a whale"])
    with pytest.raises(InputError, match="must be a Corpus with 'terms' and 'embedding'"):
        model.assign(np.eye(2))
    with pytest.raises(InputError, match="must have the 8 columns"):
        model.assign(Corpus(["a whale"]).with_input("embedding", np.ones((1, 3))))
    with pytest.raises(InputError, match="make its Gram by hand"):
        DocumentClusterer(2, kernel="precomputed + cosine@embedding").fit(np.eye(10), corpus=corpus_of(TEXTS))


FORGERIES = [
    np.array(np.nan), np.array([np.inf, 1.0]), np.array(["a", "b"]), np.zeros((0, 3)), np.ones((5, 5), dtype=object),
    np.array([[1 + 2j]]), np.ones(3, dtype=bool), np.full((11, 8), np.nan), Texts(["{}"]), Texts([]),
]  # fmt: skip


def test_forged_inputs_of_a_run_are_refused_or_harmless():
    corpus = corpus_of(TEXTS)
    run = fit("cosine + spectrum(3)|normalise + cosine@embedding", corpus=corpus).run_
    names = [*run.model, "input.x", "input.", "maker.vectors", "maker.", "input.embedding.data", "rows", "input.a.b.c"]
    refused = 0
    for name in names:
        for value in (None, *FORGERIES):
            model = {key: each for key, each in run.model.items() if key != name}
            try:
                forged = replace(run, model=model if value is None else {**model, name: value})
                DocumentClusterer.of_run(forged).assign(corpus)
            except InputError:  # RunError is one
                refused += 1
    assert refused > len(names) * len(FORGERIES) * 0.7


def test_inputs_that_nothing_reads_are_noted():
    model = fit("cosine|principal(5)")
    assert any("does not read 'embedding'" in note for note in model.run_.evidence.warnings)


def test_groups_are_found_in_two_inputs():
    rng = np.random.default_rng(4)
    words = [[f"{c}{i}" for i in range(12)] for c in "abc"]
    texts = [" ".join(rng.choice(words[i % 3], 6)) for i in range(150)]
    corpus = Corpus(texts).with_input("embedding", np.eye(3)[np.arange(150) % 3] + 0.2 * rng.standard_normal((150, 3)))
    model = fit("cosine|principal(auto)|normalise + cosine@embedding", "auto", corpus)
    assert model.n_clusters_ == 3
    assert grampus.metrics.ari(model.labels_, np.arange(150) % 3) > 0.95
    noise = corpus.with_input("embedding", rng.standard_normal((150, 3)))
    assert fit("cosine@embedding", "auto", noise).n_clusters_ == 1


def test_components_follow_the_number_of_clusters():
    texts = [f"{a} {b} word{i}" for i, (a, b) in enumerate((a, b) for a in "abcdefgh" for b in "stuvwxyz")]
    kernel = "cosine|principal(auto)|normalise"
    model = DocumentClusterer(40, kernel=kernel, embed=None, effort=QUICK).fit(texts)
    assert model.run_.provenance.kernel == "cosine|principal(40)|normalise"
    effort = Effort(ks=(2, 31), n_splits=2, stability=False, n_init=1)
    few = DocumentClusterer("auto", kernel=kernel, embed=None, effort=effort)
    assert few.fit(texts).run_.provenance.kernel == "cosine|principal(31)|normalise"
    rows = np.random.default_rng(0).random((50, 45))
    assert str(KernelKMeans(35, kernel=kernel, n_init=1).fit(rows).kernel_) == "cosine|principal(35)|normalise"
    assert parse_kernel(kernel).gram(rows).features().rows.shape[1] == 30


@pytest.mark.parametrize("method", ["kernel-kmeans", "pddp", "bisecting", "spectral", "kernel-pca"])
def test_every_method_clusters_sums(method):
    rng = np.random.default_rng(1)
    rows = np.repeat(np.eye(2), 12, axis=0) + 0.1 * rng.random((24, 2))
    corpus = Corpus([f"{text} {i}" for i, text in enumerate([*SEA, *SEA, *SEA[:2], *AIR, *AIR, *AIR[:2]])])
    kernel = "0.5 * cosine|principal(auto)|normalise + 0.5 * cosine@embedding"
    model = DocumentClusterer(2, kernel=kernel, method=method, effort=Effort(n_init=2, n_splits=2))
    labels = model.fit(corpus.with_input("embedding", rows)).labels_
    assert len(set(labels[:12])) == len(set(labels[12:])) == 1
    assert labels[0] != labels[12]


@pytest.mark.parametrize("kernel", ["cosine|shift + 2 * gaussian(1)|shift(-0.2)", "linear * gaussian(1)", "3 * linear"])
def test_k_means_on_a_sum_is_k_means_on_its_matrix(kernel):
    rows = np.random.default_rng(2).random((60, 5))
    gram = parse_kernel(kernel).gram(rows)
    below, sigma = gram.split_shift()
    stored = shift(DenseGram(below.dense()), sigma)  # objectives are reported without the shift
    found, plain = (kernel_kmeans(g, 4, init=np.arange(60) % 4, n_init=1) for g in (gram, stored))
    assert found.labels.tolist() == plain.labels.tolist()
    assert found.objective == pytest.approx(plain.objective)


def test_checkpoints_tell_sums_of_unknown_documents_apart():
    rows = np.random.default_rng(3).random((2, 6, 6))
    one, other = (DenseGram(np.eye(6) + x + x.T - np.diag(2 * x.diagonal())) for x in rows)
    assert fingerprint(one + one, None) == fingerprint(one + one, None) != fingerprint(one + other, None)


def test_estimators_take_sums_and_named_inputs():
    rng = np.random.default_rng(0)
    rows = rng.random((12, 4)) + np.repeat([[3.0, 0, 0, 0], [0, 3.0, 0, 0]], 6, axis=0)
    for estimator in (KernelKMeans(2, kernel="cosine + 0.5 * gaussian(1)"), PDDP(2, kernel="cosine + linear")):
        found = estimator.fit(rows)
        assert len(set(found.labels_[:6])) == len(set(found.labels_[6:])) == 1
        assert found.predict(rows).tolist() == found.labels_.tolist()
    named = {"terms": rows, "text": ["sea"] * 6 + ["air"] * 6}
    model = KernelKMeans(2, kernel="cosine + spectrum(2)|normalise").fit(named)
    assert model.predict(named).tolist() == model.labels_.tolist()
    with pytest.raises(InputError, match="got a collection without names"):
        KernelKMeans(2, kernel="cosine + spectrum(2)|normalise").fit(rows)
    with pytest.raises(InputError, match="reads the input 'embedding'"):
        KernelKMeans(2, kernel="cosine@embedding").fit(rows)
    with pytest.raises(InputError, match="the documents have 'terms', 'text'"):
        parse_kernel("cosine@embedding").gram(named)
    with pytest.raises(InputError, match="same documents"):
        parse_kernel("cosine + linear@year").gram({"terms": rows, "year": np.ones((3, 1))})


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_raw_counts_get_a_hint(layout):
    counts = np.zeros((10, 12))
    counts[np.arange(10), np.arange(10)] = np.arange(1, 11)
    counts[:, 11] = [0, 1] * 5
    hinted = [
        any("without weights" in note for note in DocumentClusterer(2, effort=QUICK).fit(x).run_.evidence.warnings)
        for x in (layout(counts), layout(np.log1p(counts)), layout(np.minimum(counts, 1)), layout(counts + 1))
    ]
    assert hinted == [True, False, False, False]


class Lengths:
    """A maker: the number of letters of every text, divided by the longest of the fitted ones."""

    kind = "lengths-of-tests"

    def fit_transform(self, raw_documents):
        self.longest_ = max(len(text) for text in raw_documents.texts)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        return np.array([[len(text) / self.longest_, 1.0] for text in raw_documents.texts])

    def pack(self):
        return {"unit": "letters"}, {"longest": np.array(self.longest_), "note": Texts(["kept"])}

    @classmethod
    def unpack(cls, parameters, learned):
        assert parameters == {"unit": "letters"}
        found = cls()
        found.longest_ = int(learned["longest"])
        return found


def test_inputs_may_be_made_from_texts_and_are_stored_by_name(tmp_path):
    from grampus.documents.find.predict import Predictor

    register_maker(Lengths)
    kernel = parse_kernel("cosine + gaussian(1)@lengths")
    inputs = collect(Corpus(TEXTS), kernel, None, makers={"lengths": Lengths(), "unread": Lengths()})
    assert list(inputs.makers) == ["lengths"]
    gram = kernel.gram(inputs.features, inputs.collection)
    labels = np.arange(len(gram)) % 2
    model = Predictor.of(kernel, gram, inputs.features, labels, inputs.weights, inputs.vectorizer, True, inputs.makers)
    saved = model.arrays()
    assert json.loads(saved["maker.lengths"][0]) == {"kind": Lengths.kind, "parameters": {"unit": "letters"}}
    from grampus.text.terms.persist import plain_parameters

    again = Predictor.restore(kernel, saved, plain_parameters(inputs.vectorizer), True)
    new = ["a whale of a time", "nest"]
    np.testing.assert_array_equal(again.predict(new).margin, model.predict(new).margin)
    given = Corpus(TEXTS).with_input("lengths", np.ones((10, 1)))
    assert not collect(given, kernel, None, makers={"lengths": Lengths()}).makers  # what is given is not made
    with pytest.raises(RunError, match="does not fit together"):
        Predictor.restore(
            kernel, {**saved, "maker.lengths": Texts(['{"kind": "unknown", "parameters": {}}'])}, None, True
        )
    with pytest.raises(RunError, match="does not fit together"):
        Predictor.restore(kernel, {**saved, "input.lengths.rows": np.ones((3, 2))}, None, True)


def test_the_source_of_a_kernel_at_an_input():
    plain = parse_kernel("linear@embedding")
    assert plain.source is plain
    assert parse_kernel("cosine@embedding").source == plain
