"""The peer: reval's repeated two-fold cross-validation with k-means and a k-NN classifier."""

import numpy as np
from reval.best_nclust_cv import FindBestClustCV
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier


def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    finder = FindBestClustCV(
        nfold=2, nclust_range=list(range(2, 16)), s=KNeighborsClassifier(), c=KMeans(n_init=1), nrand=10
    )
    found = finder.best_nclust(inputs["x"], iter_cv=20)
    return {"best": np.array(float(found[1]))}
