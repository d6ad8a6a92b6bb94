"""What the app can be asked: every request that may be made, and what answers it."""

import json
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from .._progress import Progress
from .._rows import rounded
from ..documents import DocumentClusterer
from ..errors import GrampusError, InputError
from ..persist import Run
from ..text import Corpus, CorpusWarning, ReadOptions, read_corpus
from .actions import LONG
from .store import OpenRun, StaleError, edits_asked
from .tables import EXPORTS
from .view import columns_of, live_answer, live_page, live_state, news, waiting_page
from .work import SAVING, Making

MB = 10**6
MOST_SHOWN = 2000  # dropped documents that are listed
MOST_DROPPED = 8  # files that can be added
MOST_ANSWERS = {"answer": 4}  # what is kept for more than the last key
MARKS = ("done", "reopen")  # edits that change nothing but marks
LARGEST_EDIT, LARGEST_FILE = 8 * MB, 256 * MB
_ENDING = re.compile(r"(\.[A-Za-z0-9]{1,8}){1,2}$", re.ASCII)


@dataclass(frozen=True)
class Reply:
    """An answer to a request."""

    body: bytes = b""
    kind: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(value: Any, status: int = 200) -> Reply:
    """Return a value as a reply."""
    return Reply(json.dumps(value, allow_nan=False).encode(), status=status)


def problem(status: int, words: str) -> Reply:
    """Return a reply that says what is wrong."""
    return as_json({"problem": words}, status)


class Session:
    """A run that is open in the browser, or is being made.

    Parameters
    ----------
    opened : OpenRun or Making
        A saved run, or the work whose result will be one.
    """

    def __init__(self, opened: OpenRun | Making) -> None:
        self._opened = opened
        self._locks = {name: Lock() for name in ("page", "answer", "columns", "model", "work")}
        self._kept: dict[str, dict[Any, Any]] = {}
        self._work: Making | None = None
        self._dropped: dict[int, Corpus] = {}

    @property
    def store(self) -> OpenRun | None:
        """The run; None while it is being made."""
        if isinstance(self._opened, Making) and self._opened.result is not None:
            self._opened = self._opened.result
        return self._opened if isinstance(self._opened, OpenRun) else None

    def _keep(self, name: str, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made for a key, made once; what was made for earlier keys is forgotten."""
        with self._locks[name]:
            kept = self._kept.setdefault(name, {})
            if key not in kept:
                made = make()
                while len(kept) >= MOST_ANSWERS.get(name, 1):
                    del kept[next(iter(kept))]
                kept[key] = made
            return kept[key]

    def page(self, asked: Mapping[str, str]) -> Reply:
        """Return the page, or the one that is shown while the run is made."""
        store = self.store
        if store is None:
            page, policy = waiting_page()
        else:
            run, revision = store.look()
            back = store.kept
            page, policy = self._keep("page", revision, lambda: live_page(run, revision, str(store.place), back))
        guarded = {"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"}
        return Reply(page, "text/html; charset=utf-8", headers=guarded)

    def state(self, asked: Mapping[str, str]) -> Reply:
        """Return what is new since a revision; nothing where nothing is."""
        if self.store is None:
            assert isinstance(self._opened, Making)
            return as_json({"work": self._opened.told()})
        run, revision = self.store.look()
        work = self._work
        if work is not None and (not work.done or asked.get("work") == str(work.number)):
            if work.done and asked.get("since") != revision:
                return self._answer(run, revision, asked.get("since"), work=work.told())
            return as_json({"work": work.told()})
        since = asked.get("since")
        return Reply(status=204) if since == revision else self._answer(run, revision, since)

    def _answer(self, run: Run, revision: str, since: Any, status: int = 200, **more: Any) -> Reply:
        """Return what became of the run since a revision; made once for every revision, and undoing brings one back."""
        made = self._keep("answer", revision, lambda: live_answer(run, revision))
        before = self._kept["answer"].get(since) if isinstance(since, str) else None
        return as_json({**more, "back": self._ready().kept, "since": since, **news(made, before)}, status)

    def document(self, asked: Mapping[str, str]) -> Reply:
        """Return the whole text of a document, by its row."""
        run, _ = self._run()
        row = asked.get("row", "")
        if not re.fullmatch(r"\d{1,9}", row, re.ASCII) or int(row) >= len(run):
            return problem(400, f"row must be a number from 0 to {len(run) - 1}.")
        texts = run.documents.texts if run.documents.texts is not None else run.documents.excerpts
        return as_json({"text": "" if texts is None else texts[int(row)].encode("utf-8", "replace").decode()})

    def columns(self, asked: Mapping[str, str]) -> Reply:
        """Return further columns to filter by."""
        store, (run, _) = self._ready(), self._run()
        key = (run.provenance.fingerprint, len(run))
        return as_json(self._keep("columns", key, lambda: columns_of(run, store.place)))

    def export(self, asked: Mapping[str, str]) -> Reply:
        """Return the run as a file."""
        run, _ = self._run()
        make, kind = EXPORTS.get(asked.get("as", ""), (None, ""))
        if make is None:
            return problem(400, f"as must be one of {', '.join(EXPORTS)}.")
        name = f'attachment; filename="grampus.{asked["as"]}"'
        return Reply(make(run), kind, headers={"Content-Disposition": name})

    def edit(self, asked: Mapping[str, str], body: bytes) -> Reply:
        """Make edits or undo the last one, and save the run; answer with what they change."""
        try:
            content = json.loads(body)
            seen = content["revision"]
            undo = content.get("undo", False)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return problem(400, "a change must be a JSON object with a revision.")
        store = self._ready()
        if self._work is not None and not self._work.done:
            return problem(400, f"{self._work.what}: wait for it, or cancel it.")

        def change(run: Run) -> Run:
            return run.edited(*edits_asked(content.get("edits"), run))

        try:
            run, revision = store.undone(seen) if undo is True else store.change(seen, change)
            marked = run.edits and run.edits[-1].action in MARKS and not undo and len(content["edits"]) == 1
            if marked:
                state, before = live_state(run, revision), self._kept.get("answer", {}).get(seen)
                if before is not None:
                    self._keep("answer", revision, lambda: {**before, **state})
                return as_json({**state, "back": store.kept, "marked": True})
            return self._answer(run, revision, seen)
        except StaleError:
            return self._answer(*store.look(), seen, status=409)

    def work(self, asked: Mapping[str, str], body: bytes) -> Reply:
        """Begin an action that takes a while; answer at once with how far it is."""
        try:
            content = json.loads(body)
            seen, (what, act, edits_only) = content["revision"], LONG[content["action"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return problem(400, f"an action must be a JSON object with a revision and one of {', '.join(LONG)}.")
        store = self._ready()
        run, revision = store.look()
        if seen != revision:
            return self._answer(run, revision, seen, status=409)
        with self._locks["work"]:
            if self._work is not None and not self._work.done:
                return problem(400, f"{self._work.what}: wait for it, or cancel it.")

            def task(progress: Progress) -> None:
                made = act(run, content, self._dropped, progress)
                progress(SAVING, 0, 1)  # where the reader cancelled, nothing is saved
                if edits_only:
                    store.change(seen, lambda _: made)
                else:
                    store.replace(seen, made)

            self._work = Making(what, task)
            return as_json({"work": self._work.told()}, 202)

    def cancel(self, asked: Mapping[str, str], body: bytes) -> Reply:
        """End the action that is under way."""
        if self._work is not None:
            self._work.cancel()
        return as_json({})

    def assign(self, asked: Mapping[str, str], body: bytes) -> Reply:
        """Read the documents of a dropped file, and say where they belong; the run stays as it is."""
        run, revision = self._run()
        found = _ENDING.search(asked.get("name", ""))
        with tempfile.TemporaryDirectory(prefix="grampus-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", CorpusWarning)
            place = Path(folder, f"dropped{found[0].lower() if found else '.txt'}")
            place.write_bytes(body)
            corpus = read_corpus(place, options=ReadOptions(on_error="skip"))
        model = self._keep("model", revision, lambda: DocumentClusterer.of_run(run))
        assigned = model.assign(corpus)
        rows = [
            [corpus.ids[i], " ".join(corpus.texts[i][:160].split()), int(assigned.labels[i]),
             rounded(assigned.margin[i]), bool(assigned.known[i]), bool(assigned.unlike[i])]
            for i in range(min(len(corpus), MOST_SHOWN))
        ]  # fmt: skip
        number = max(self._dropped, default=0) + 1
        self._dropped = {**dict(list(self._dropped.items())[1 - MOST_DROPPED :]), number: corpus}
        return as_json({"documents": rows, "count": len(corpus), "notes": list(corpus.notes), "dropped": number})

    def _ready(self) -> OpenRun:
        if self.store is None:
            raise InputError("The run is still being made.")
        return self.store

    def _run(self) -> tuple[Run, str]:
        return self._ready().look()


READS: dict[str, Callable[[Session, Mapping[str, str]], Reply]] = {
    "": Session.page, "state": Session.state, "document": Session.document, "columns": Session.columns,
    "export": Session.export,
}  # fmt: skip
WRITES: dict[str, tuple[Callable[[Session, Mapping[str, str], bytes], Reply], str, int]] = {
    "edit": (Session.edit, "application/json", LARGEST_EDIT),
    "work": (Session.work, "application/json", LARGEST_EDIT),
    "cancel": (Session.cancel, "application/json", LARGEST_EDIT),
    "assign": (Session.assign, "application/octet-stream", LARGEST_FILE),
}


def safely(act: Callable[[], Reply]) -> Reply:
    """Return a reply; an error of the library is one that says what must hold."""
    try:
        return act()
    except GrampusError as error:
        return problem(400, str(error))
    except OSError as error:
        return problem(500, error.strerror or type(error).__name__)
