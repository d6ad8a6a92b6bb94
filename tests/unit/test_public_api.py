"""The public names are a checked list, and each has a docstring with an example."""

import importlib

import pytest

PUBLIC = {
    "grampus": """
        BisectingKernelKMeans Corpus DocumentClusterer KernelKMeans KernelPCAKMeans Levels PDDP
        SpectralKMeans TermVectorizer __version__ choose_k choose_levels config consensus load parse_kernel read_corpus
    """,
    "grampus.cluster": """
        BisectingKernelKMeans Clustering Consensus EmbeddedClustering History KernelEmbedding KernelKMeans
        KernelPCAKMeans Node Outcome PDDP Runs SpectralEmbedding SpectralKMeans Split Tree
        bisecting_kernel_kmeans coassociation confidence consensus embedding_2d kernel_embedding kernel_kmeans
        kernel_pca_kmeans nested_tree pddp spectral_embedding spectral_kmeans
    """,
    "grampus.describe": """
        Cluster Known LanguageModel Name NameCommand Naming Term Typicality Wording ask_names describe describing_terms
        distinguishing_terms keywords name_levels name_partition name_tree near_duplicates typicality
    """,
    "grampus.documents": """
        BisectingMethod ConsensusMethod DocumentClusterer Effort Found Guide Job KernelKMeansMethod KernelPCAMethod
        Method PDDPMethod PredictedCost Prediction SpectralMethod cluster_within default_terms keep_answer load
        predict_cost update_run with_names with_names_of write_names
    """,
    "grampus.errors": """
        ConvergenceError CorpusError GrampusError InputError KernelSpellingError MemoryBudgetError
        MissingExtraError PartsError RunError
    """,
    "grampus.gram": """
        Collection ComparedDocuments Cost DenseGram Eigenpairs Estimate Features FunctionGram Gram LinearGram
        NystromGram Plan PrincipalGram SparseGram Transformed at_rank centre dominance_ratio eigenpairs
        eigenvalues empirical_map neighbour_graph normalise nystrom objective plan power principal product
        quick_products quick_rows relative_error require_gram self_tune shift store weighted_sum
    """,
    "grampus.kernels": """
        At BoundRange Centre Constant Cosine DistinctiveSubstring Exponential FullString Gaussian Kernel Linear
        Map Normalise Nystrom Piped Polynomial Power Precomputed Principal Product Scaled SelfTuning Shift
        Spectrum String Subsequence Sum Transform distinctive_substrings known_names parse_kernel register
    """,
    "grampus.metrics": """
        ContingencyTable accuracy anmi ari cluster_entropy contingency_table error_rate match_clusters nmi
        pairwise_nmi precision purity recall variation_of_information
    """,
    "grampus.persist": """
        Branch Change Choice Comparison Documents Edit Graft Layout Level Provenance Run RunEvidence Share Update
        change_run compare_runs trends
    """,
    "grampus.plots": """
        dendrogram document_map heatmap k_chart normalised_curves projections reassignments scree
    """,
    "grampus.report": """
        read_edits report_html write_report
    """,
    "grampus.select": """
        Contest Evidence Indices LevelPartition Levels NullTest Reduction Score Selection Splits Stability
        chance_strength choose_k choose_levels
        explain_choice growing_rate nearest_centroid other_indices prediction_strength reduce_gram
        score_chart score_rows silhouette stability
    """,
    "grampus.testing": """
        check_gram check_reader
    """,
    "grampus.text": """
        BadRecord Cleaning Corpus CorpusWarning Document Embedder FileRecord MeanVectors Pieces ReadLimits ReadOptions
        Reader Record Source Table TermVectorizer Terms Texts Tokenizer Weighting detect_language
        read_corpus read_embeddings read_pieces register_reader stemmers stop_words
    """,
}
MODULES = list(PUBLIC)
# What a clustering method of one's own is given and returns: shown in one example, that of the protocol's guide.
WITHOUT_EXAMPLE = {("grampus.documents", name) for name in ("Found", "Job", "Method", "default_terms")}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name):
    assert list(importlib.import_module(name).__all__) == PUBLIC[name].split()


@pytest.mark.parametrize("name", MODULES)
def test_all_names_exist_and_are_sorted(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(module.__all__)  # plainly, capitals first
    for public in module.__all__:
        assert hasattr(module, public)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module in MODULES
        for name in importlib.import_module(module).__all__
        if not name.startswith("__") and module != "grampus.errors" and (module, name) not in WITHOUT_EXAMPLE
    ],
)
def test_every_public_name_has_a_docstring_with_an_example(module, name):
    doc = getattr(importlib.import_module(module), name).__doc__
    assert doc
    assert ">>>" in doc
