"""scikit-learn's sides."""

import re

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity
from worker import csr, strings


def sparse_kmeans(inputs):
    x, start = csr(inputs), inputs["start"]
    centres = np.array([np.asarray(x[start == c].mean(axis=0)).ravel() for c in range(20)])
    how = {"init": centres, "n_init": 1, "max_iter": int(inputs["iterations"]), "tol": 0, "algorithm": "lloyd"}
    return lambda: {"labels": KMeans(20, **how).fit(x).labels_}


def sparse_starts(inputs):
    x = csr(inputs)
    how = {"init": "random", "n_init": 10, "max_iter": 300, "tol": 0, "random_state": 0}
    return lambda: {"objective": np.array(KMeans(20, **how).fit(x).inertia_)}


def dense_starts(inputs):
    how = {"n_init": 10, "max_iter": 300, "tol": 0, "random_state": 0}
    return lambda: {"objective": np.array(KMeans(20, **how).fit(inputs["x"]).inertia_)}


def dense_start(inputs):
    x, start = inputs["x"], inputs["start"]
    how = {"init": np.array([x[start == c].mean(axis=0) for c in range(50)]), "n_init": 1, "max_iter": 300, "tol": 0}
    return lambda: {"labels": KMeans(50, **how).fit(x).labels_}


def terms(inputs):
    """Return TF-IDF with SMART's stop words and PyStemmer, weighted as ours is."""
    import Stemmer

    from grampus.text import stop_words

    texts, stops, findall = strings(inputs), stop_words("smart"), re.compile(r"\b\w\w+\b").findall
    stem = Stemmer.Stemmer("english").stemWords

    def analyzer(text):
        return stem([word for word in findall(text.lower()) if word not in stops])

    def run():
        how = {"min_df": 3, "sublinear_tf": True, "smooth_idf": False}
        found = TfidfVectorizer(analyzer=analyzer, **how).fit_transform(texts)
        return {"data": found.data, "indices": found.indices, "indptr": found.indptr, "shape": np.array(found.shape)}

    return run


def spectral(inputs):
    x = csr(inputs)
    model = SpectralClustering(20, affinity="precomputed", random_state=0)
    return lambda: {"labels": model.fit(cosine_similarity(x)).labels_}


def kernel_pca(inputs):
    x = csr(inputs)

    def run():
        placed = KernelPCA(20, kernel="cosine", random_state=0).fit_transform(x)
        return {"labels": KMeans(20, n_init=10, random_state=0).fit(placed).labels_}

    return run
