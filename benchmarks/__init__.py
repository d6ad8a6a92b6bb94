"""Speed against peers, in one run, as ratios; the agreement of the answers stands beside every time.

A row is a module in ``rows/`` and one script for each side in ``sides/``::

    @row(
        "anmi",
        "Mean NMI over all pairs of 250 partitions.",
        ours=Side("grampus.metrics.anmi", "anmi_grampus.py"),
        peers=[Side("a loop over pairs", "anmi_sklearn.py", promise=10)],
        agreement=largest_difference("anmi", 1e-12),
    )
    def inputs(quick: bool) -> Arrays:
        return {"partitions": ...}

A script has ``run(inputs)``, which takes and gives a dict of arrays and is timed, and perhaps
``prepare(inputs)``, which is not timed and whose answer ``run`` then gets. It may be written in R.
"""
