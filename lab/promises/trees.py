"""Trees: the same tree for every run and every order; memory."""

from __future__ import annotations

import numpy as np

from grampus import PDDP
from lab import Found, Task, data
from lab.promises import promise
from tests.memory import rise

RESTS_ON = ("cluster", "gram")


@promise(
    "deterministic-trees",
    "MODAPTE and REUT1, k = 20, seven kinds of tree: equal over 20 runs and orders; no relative eigengap below 1e-6.",
    rests_on=RESTS_ON,
    conditions=("nothing-differs", "no-close-calls"),
    data=True,
)
def deterministic(task: Task) -> Found:
    modapte, reut = data.modapte().x[:: task.trials(1, 8)], data.reut(1).x
    cases = [(modapte, PDDP(20)), (modapte, PDDP(20, cut="full")), (modapte, PDDP(20, refine=True))]
    cases += [(reut, PDDP(20, kernel="gaussian(1)", cut=cut)) for cut in ("zero", "full", "projection")]
    cases += [(reut, PDDP(20, kernel="polynomial(2)"))]
    trees = different = close = 0
    for x, model in cases:
        expected = model.fit(x).tree_
        close += len(expected.close_calls)
        for seed in range(task.trials(20, 1)):
            same, order = np.arange(x.shape[0]), np.random.default_rng(seed).permutation(x.shape[0])
            for index in (same, order):
                found = model.fit(x[index]).tree_
                pairs = zip(expected.nodes, found.nodes, strict=True)
                trees += 1
                different += not all(np.array_equal(a.members, np.sort(index[b.members])) for a, b in pairs)
    text = f"{different} of {trees} trees differ; {close} close calls"
    return Found(text, {"different": different, "close_calls": close})


@promise(
    "memory-of-trees",
    "PDDP, k = 52, all of MODAPTE: rise of memory over the stored entries (n² is 655 MB).",
    rests_on=RESTS_ON,
    conditions=("memory-of-trees",),
    data=True,
)
def memory(task: Task) -> Found:
    setup = """
        from lab import data
        from grampus import PDDP
        x = data.modapte().x
        PDDP(2).fit(x[:500])
        input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    """
    found = rise(setup, "PDDP(52).fit(x)")
    times = found["rise"] / found["input"]
    return Found(f"rise {found['rise'] / 1e6:.1f} MB, {times:.1f} × the input", {"rise": times})
