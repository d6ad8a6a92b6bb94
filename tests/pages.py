"""Runs for tests of the report, and texts that try to run as script."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import numpy as np

from grampus import DocumentClusterer
from grampus.app import Server, Session
from grampus.describe import Term
from grampus.persist import Choice, Level, Run
from grampus.text import Corpus, Texts
from tests.runs import changed

TOPICS = {
    "sea": "whale calf song ocean deep wave tide krill fin pod",
    "garden": "rose soil seed bloom petal prune compost bulb hedge moss",
    "kitchen": "flour oven dough yeast butter knead crust bake salt crumb",
    "sky": "star comet orbit planet lens galaxy lunar dust nova ring",
}
SLOW = "a" * 60 + "!"  # what a nested repetition takes for ever to refuse


@cache
def example_run(each: int = 40) -> Run:
    """Return four topics with `each` documents, every part of the page in use: labels, dates, titles, a chart of k."""
    rng = np.random.default_rng(3)
    texts, titles, labels, dates = [], [], [], []
    for (name, words), i in itertools.product(TOPICS.items(), range(each)):
        drawn = rng.choice(words.split(), 9).tolist() + rng.choice(" ".join(TOPICS.values()).split(), 3).tolist()
        texts.append(f"{' '.join(drawn)} {SLOW}" if (name, i) == ("sea", 0) else " ".join(drawn))
        titles.append(f"{name} number {i}")
        labels.append("" if i == 1 else name)
        dates.append(f"20{10 + (i + len(titles) // each) % 9:02d}-0{1 + i % 9}-11" if i % 10 else "long ago")
    texts[5] = texts[4]
    corpus = Corpus(texts, titles=titles, labels=labels, dates=dates, source="four topics.csv")
    run = DocumentClusterer(4, embed=None, random_state=0).fit(corpus).run_
    choice = Choice(
        4, "RED-S", (2, 3, 4, 5, 6), (0.62, 0.7, 0.93, 0.9, None), (0.02, 0.03, 0.02, 0.03, None),
        (4, 5, 3, 2, 6), (4,), 20,
    )  # fmt: skip
    clusters = tuple(replace(cluster, stability=0.9 - 0.2 * cluster.number) for cluster in run.evidence.clusters)
    columns = {"text": "body", "label": "topic", "date": "day"}
    return changed(run, choice=choice, clusters=clusters, columns=columns, command="grampus cluster 'four topics.csv'")


@cache
def with_levels():
    """The example with its tree cut above and below its four clusters."""
    run = example_run()
    tree = run.evidence.tree
    middle = sorted((b.index for b in tree if b.cluster >= 0), key=lambda i: tree[i].cluster)

    def cut(parts):
        splits = sorted((b for b in tree if b.order >= 0), key=lambda b: b.order)[: parts - 1]
        opened = {b.index for b in splits}
        found = [b for b in tree if b.index not in opened and (b.parent < 0 or b.parent in opened)]
        return tuple(b.index for b in sorted(found, key=lambda b: (-b.size, b.index)))

    return changed(run, levels=(Level("coarse", cut(2)), Level("middle", tuple(middle)), Level("fine", cut(8))))


@contextmanager
def serving(opened, **options):
    """Serve a run that is open, as `grampus open` does, while the block runs."""
    server = Server(Session(opened), **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SCRIPTS = ("alert(1)", "window.hit=1", "window.hit=`1`", "parent.hit=1,top.hit=1")
FRAMES = (
    "<script>{}</script>",
    "</script><script>{}</script>",
    "</textarea><script>{}</script>",
    "</title></style></noscript></template><script>{}</script>",
    "<!--<script>--><script>{}</script>",
    "--><script>{}</script>",
    "]]><script>{}</script>",
    "</td></tr></table></div><script>{}</script>",
    "<img src=x onerror={}>",
    '"><img src=x onerror="{}">',
    "'><img src=x onerror='{}'>",
    "<img/src=x/onerror={}//",
    "<svg onload={}>",
    "<svg><script>{}</script></svg>",
    "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<math><mtext></table><mglyph><style><!--</style><img title='--><img src=x onerror={}>'>",
    "<body onload={}>",
    "<input autofocus onfocus={}>",
    "<select autofocus onfocus={}>",
    "<details open ontoggle={}>",
    "<video><source onerror={}></video>",
    "<audio src=x onerror={}>",
    "<iframe src='javascript:{}'></iframe>",
    "<iframe srcdoc='<script>{}</script>'></iframe>",
    "<object data='javascript:{}'></object>",
    "<embed src='javascript:{}'>",
    "<a href='javascript:{}' autofocus onfocus={}>x</a>",
    "<form action='javascript:{}'><input type=submit autofocus onfocus={}></form>",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<link rel=stylesheet href='javascript:{}' onerror={}>",
    "<base href='javascript:{}//'>",
    "<style>@import 'javascript:{}';</style><style onload={}>",
    "\" onmouseover=\"{}\" autofocus onfocus=\"{}\" x=\"",
    "' onmouseover='{}' autofocus onfocus='{}' x='",
    "javascript:{}",
    "data:text/html,<script>{}</script>",
    "{{{{constructor.constructor('{}')()}}}}",
    "${{{}}}",
    "$policy $data $script <script>{}</script>",
    "\\u003cscript\\u003e{}\\u003c/script\\u003e",
    "&lt;script&gt;{}&lt;/script&gt;<script>{}</script>",
    "\u2028<script>{}</script>\u2029",
    "\x00<scr\x00ipt>{}</script>",
    "\ufeff<ſcript>{}</ſcript><script>{}</script>",
    "\u202e<script>{}</script>",
    "'-({})-'",
    "\"}}],\"x\":{}//",
    "\\\"}};{}//",
    "`-({})-`",
    "__proto__<img src=x onerror={}>",
    "<image href=x onerror={}>",
    "<svg><a xlink:href='javascript:{}'><text y=9>x</text></a></svg>",
    "<svg><foreignObject><img src=x onerror={}></foreignObject></svg>",
    "<svg><set attributeName=onmouseover to='{}'>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload={}>#x'></svg>",
    "<marquee onstart={}>",
    "<isindex type=image src=x onerror={}>",
    "<template><script>{}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={}>'>",
    "<xmp></xmp><script>{}</script>",
    "<button popovertarget=x onbeforetoggle={}>x</button><p popover id=x>",
    "#view?query=<img src=x onerror={}>",
    "=HYPERLINK('javascript:{}')",
)  # fmt: skip
PAYLOADS = [frame.format(*[script] * 3) for frame in FRAMES for script in SCRIPTS]


def hostile(run: Run, pay: Sequence[str] = PAYLOADS) -> Run:
    """Return the run with every payload in every place that a stranger could fill."""
    n, every = len(run), " ".join(pay)
    parts = [" ".join(pay[c :: run.n_clusters]) for c in range(run.n_clusters)]

    def wicked(words: Sequence[Term], at: int) -> tuple[Term, ...]:
        return tuple(Term(" ".join(pay[(at + i) % len(pay) :: 48]), term.score) for i, term in enumerate(words))

    clusters = tuple(
        replace(
            c,
            name=parts[c.number],
            words=tuple(pay[c.number :: 40]),
            sentence=parts[c.number],
            terms=wicked(c.terms[:12], 12 * c.number),
            phrases=wicked(c.phrases[:12], 12 * c.number),
        )
        for c in run.evidence.clusters
    )
    tree = tuple(
        replace(branch, name=" ".join(pay[branch.index % len(pay) :: len(run.evidence.tree)]))
        for branch in run.evidence.tree
    )
    return changed(
        run,
        ids=Texts(f"{pay[i % len(pay)]} {i}" for i in range(n)),
        titles=Texts(pay[(i + 50) % len(pay)] for i in range(n)),
        texts=Texts(pay[(i + 100) % len(pay)] for i in range(n)),
        excerpts=Texts(pay[(i + 100) % len(pay)][:160] for i in range(n)),
        classes=Texts(pay[(i * 5) % len(pay)] for i in range(n)),
        dates=Texts(pay[(i * 5 + 1) % len(pay)] if i % 9 else f"20{i % 20 + 10}-01-01" for i in range(n)),
        clusters=clusters,
        tree=tree,
        source=every,
        command=every,
        kernel=every,
        created=every,
        columns={"label": every, "date": every, "text": every},
        versions={every: every},
        parameters={every: every},
        warnings=(*pay[::9], every),
        fingerprint=every,
    )
