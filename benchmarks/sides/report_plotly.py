"""plotly: one WebGL scatter plot, a trace for each cluster, the texts shown on hover; its script inside the page."""

from typing import Any

import numpy as np


def prepare(inputs: dict[str, np.ndarray]) -> tuple[list[str], np.ndarray, np.ndarray]:
    import plotly.graph_objects  # noqa: F401  (imported before the clock starts)

    whole, ends = inputs["bytes"].tobytes(), inputs["ends"].tolist()
    texts = [whole[start:end].decode("utf-8", "replace") for start, end in zip([0, *ends], ends, strict=False)]
    labels = inputs["labels"]
    rng = np.random.default_rng(2)
    places = rng.normal(0, 6, (labels.max() + 1, 2))[labels] + rng.normal(size=(len(labels), 2))
    return texts, labels, places.astype(np.float32)


def run(made: tuple[list[str], np.ndarray, np.ndarray]) -> dict[str, Any]:
    import plotly.graph_objects as go

    texts, labels, places = made
    figure = go.Figure()
    for cluster in range(labels.max() + 1):
        members = np.flatnonzero(labels == cluster)
        x, y = places[members].T
        words = [texts[i] for i in members]
        figure.add_trace(go.Scattergl(x=x, y=y, text=words, mode="markers", name=f"cluster {cluster}"))
    return {"size": np.array(len(figure.to_html(include_plotlyjs=True).encode("utf-8")))}
