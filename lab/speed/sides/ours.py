"""Our sides: each function prepares, and returns what is timed."""

import numpy as np
from worker import csr, strings

import grampus
from grampus.cluster import kernel_kmeans
from grampus.gram import DenseGram, LinearGram
from grampus.text import TermVectorizer


def starts(inputs):
    gram, init = DenseGram(inputs["matrix"]), inputs["starts"]

    def run():
        runs = kernel_kmeans(gram, 5, init=init, n_init=len(init)).runs
        return {"labels": runs.labels, "objective": runs.objective}

    return run


def sparse_kmeans(inputs):
    gram = grampus.parse_kernel("cosine").gram(csr(inputs))
    iterations = int(inputs["iterations"]) + 1  # scikit-learn assigns once more after its last iteration
    return lambda: {"labels": kernel_kmeans(gram, 20, init=inputs["start"], n_init=1, max_iter=iterations).labels}


def sparse_starts(inputs):
    gram = grampus.parse_kernel("cosine").gram(csr(inputs))
    return lambda: {"objective": np.array(kernel_kmeans(gram, 20, n_init=10, max_iter=300, random_state=0).objective)}


def dense_starts(inputs):
    gram = LinearGram(inputs["x"])
    how = {"init": "k-means++", "n_init": 10, "max_iter": 300, "random_state": 0}
    return lambda: {"objective": np.array(kernel_kmeans(gram, 20, **how).objective)}


def dense_start(inputs):
    gram = LinearGram(inputs["x"])
    return lambda: {"labels": kernel_kmeans(gram, 50, init=inputs["start"], n_init=1, max_iter=300).labels}


def terms(inputs):
    texts = strings(inputs)

    def run():
        found = TermVectorizer("ddc", min_df=3).fit_transform(texts)
        return {"data": found.data, "indices": found.indices, "indptr": found.indptr, "shape": np.array(found.shape)}

    return run


def boundrange(inputs):
    texts = strings(inputs)
    return lambda: {"gram": grampus.parse_kernel("boundrange(12)").gram(texts).dense()}


def _fitted(inputs, make):
    x = csr(inputs)

    def run():
        model = make(int(inputs["k"])).fit(x)
        return {"labels": model.labels_, "objective": np.array(getattr(model, "objective_", 0.0))}

    return run


def pddp(inputs):
    return _fitted(inputs, grampus.PDDP)


def spectral(inputs):
    return _fitted(inputs, lambda k: grampus.SpectralKMeans(k, kernel="cosine", random_state=0))


def kernel_pca(inputs):
    return _fitted(
        inputs, lambda k: grampus.KernelPCAKMeans(k, kernel="cosine", n_components=20, centre=True, random_state=0)
    )
