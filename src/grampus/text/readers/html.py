"""HTML: the main text of a page, without navigation, scripts and styles.

A scanner of its own, as html.parser is quadratic on some broken pages, and a library would be the core's only
dependency for one format. Linear in the length of the page, whatever its tags look like.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from .decode import check_encoding, decode
from .extract import Extract, document_table, one_line, tidy
from .log import Log
from .registry import Reader, Source, Table

_NAME = re.compile(r"/?[a-zA-Z][^\s/>]*")
_REST_OF_TAG = re.compile(r"(?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_ATTRIBUTE = re.compile(r"(?<![\w:.-])([a-zA-Z][\w:.-]*+)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_HIDDEN = re.compile(r"\shidden(?=[\s/=]|$)")
_WHITE = re.compile(r"\s+")
_RAW = {"script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext"}  # no tags inside
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS = _HEADINGS | {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "nav", "ol", "option", "p", "pre",
    "section", "summary", "table", "title", "tr", "ul",
}  # fmt: skip
_CELLS, _ROWS, _LISTS = {"td", "th"}, {"li", "tr", "dt"}, {"ul", "ol", "dl", "table"}
_DROPPED = {"nav", "footer", "template", "svg", "math", "button", "select", "dialog", "menu", "head", "object"}
_DROPPED_ROLES = {"navigation", "banner", "contentinfo", "search", "complementary", "menu", "dialog"}
_DROPPED_CLASSES = {
    "nav", "navbar", "navigation", "menu", "sidebar", "breadcrumb", "breadcrumbs", "footer", "cookie", "cookies",
    "pagination", "toc", "share", "social", "skip-link",
}  # fmt: skip
_DATES = {"date", "dc.date", "dcterms.created", "article:published_time", "datepublished", "pubdate"}
_DEEPEST = 2000
_MOST_LINKS = 0.7  # share of a block's characters in links above which it is a menu


@dataclass
class _Page:
    """A page under construction: all its text, the main part of it, and what its head says."""

    everything: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    main: list[str] = field(default_factory=list)
    block: list[str] = field(default_factory=list)
    open: list[tuple[str, bool, bool]] = field(default_factory=list)  # name, dropped, main
    counts: Counter[str] = field(default_factory=Counter)
    dropped: int = 0
    in_main: int = 0
    linked: int = 0
    length: int = 0
    title: list[str] = field(default_factory=list)
    heading: str = ""
    date: str = ""

    def text(self, value: str) -> None:
        if self.counts["title"] and not self.counts["svg"]:
            self.title.append(value)
            return
        if self.open and self.open[-1][1] and self.open[-1][0] not in _BLOCKS:
            return  # the sign of a link to a heading
        self.block.append(value if self.counts["pre"] else _WHITE.sub(" ", value))
        size = len(value.strip())
        self.length += size
        self.linked += size if self.counts["a"] else 0

    def end_block(self, separator: str) -> None:
        text = tidy(unescape("".join(self.block)))
        linked, length = self.linked, self.length
        self.block.clear()
        self.linked = self.length = 0
        if not text:
            return
        self.everything.append(text + separator)
        menu = linked > _MOST_LINKS * length and not self.in_main and not any(self.counts[n] for n in (*_HEADINGS, "p"))
        if self.dropped or menu:
            return
        self.kept.append(text + separator)
        if self.in_main:
            self.main.append(text + separator)

    def start(self, name: str, rest: str) -> None:
        if name in _BLOCKS:
            self.end_block("\n\n")
        elif name == "br":
            self.block.append("\n")
        elif name in _CELLS:
            self.block.append(" \t")
        if name == "meta" and not self.date:
            self._meta(rest)
        if name in _VOID or rest.endswith("/") or len(self.open) >= _DEEPEST:
            return
        dropped, main = _role(name, rest, bool(self.in_main))
        self.open.append((name, dropped, main))
        self.counts[name] += 1
        self.dropped += dropped
        self.in_main += main

    def end(self, name: str) -> None:
        if not self.counts[name]:
            if name == "p":
                self.end_block("\n\n")
            return
        if name in _BLOCKS:
            if name == "h1" and not self.heading and not self.dropped:
                self.heading = one_line(unescape("".join(self.block)))
            self.end_block("\n" if name in _HEADINGS or name in _ROWS else "\n\n")
            if name in _LISTS:
                self._end_list()
        while self.open:
            closed, dropped, main = self.open.pop()
            self.counts[closed] -= 1
            self.dropped -= dropped
            self.in_main -= main
            if closed == name:
                return

    def _end_list(self) -> None:
        for texts in (self.everything, self.kept, self.main):
            if texts and not texts[-1].endswith("\n\n"):
                texts[-1] += "\n"

    def _meta(self, rest: str) -> None:
        attributes = _attributes(rest)
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
        if name.lower() in _DATES:
            self.date = attributes.get("content", "")

    def extract(self) -> Extract:
        self.end_block("\n\n")
        everything, kept, main = ("".join(part).strip() for part in (self.everything, self.kept, self.main))
        # A main part that says next to nothing, or a menu that was never closed: better all than too little.
        fewest = len(everything) // 10
        text = main if len(main) > max(fewest, len(kept) // 4) else kept if len(kept) > fewest else everything
        return Extract((text,), one_line(unescape("".join(self.title))) or self.heading, self.date)


def _attributes(rest: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(rest[:10_000])
    return {name.lower(): unescape(double or single or bare) for name, double, single, bare in found}


def _role(name: str, rest: str, in_main: bool) -> tuple[bool, bool]:
    """Return whether an element is dropped, and whether it is the main part of the page."""
    if name in ("main", "article"):
        return False, True
    if name in _DROPPED or (name in ("header", "aside") and not in_main):
        return True, False
    if name not in _BLOCKS:
        return "headerlink" in rest, False
    attributes = _attributes(rest) if "=" in rest else {}
    role = attributes.get("role", "").lower()
    if role in ("main", "article"):
        return False, True
    hidden = "hidden" in rest and (attributes.get("aria-hidden") == "true" or _HIDDEN.search(rest) is not None)
    names = {*attributes.get("class", "").lower().split(), attributes.get("id", "").lower()}
    return hidden or role in _DROPPED_ROLES or (name != "body" and bool(names & _DROPPED_CLASSES)), False


def _tokens(page: str) -> Iterator[tuple[str, str, str]]:  # noqa: PLR0912  # one scanner, one place for its state
    """Yield ``("text", text, "")``, ``("start", name, rest)`` and ``("end", name, "")``, in one pass.

    What cannot be found once (the end of a comment, of a quoted value) is not looked for again.
    """
    at, end, lower = 0, len(page), page.lower()
    quotes, lost = True, set[str]()

    def find(what: str, start: int, text: str = page) -> int:
        place = -1 if what in lost else text.find(what, start)
        if place < 0:
            lost.add(what)
        return place

    while at < end:
        bracket = page.find("<", at)
        if bracket < 0:
            bracket = end
        if bracket > at:
            yield "text", page[at:bracket], ""
        if bracket == end:
            return
        at = bracket + 1
        if page.startswith("!--", at):
            closing = find("-->", at)
            at = closing + 3 if closing >= 0 else (find(">", at) + 1 or end)
            continue
        if page[at : at + 1] in ("!", "?"):
            at = find(">", at) + 1 or end
            continue
        match = _NAME.match(page, at)
        if match is None:
            yield "text", "<", ""
            continue
        name = match[0].lower()
        whole = _REST_OF_TAG.match(page, match.end()) if quotes else None
        if whole is None:
            quotes = False
            closing = find(">", match.end())
            if closing < 0:
                return
        else:
            closing = whole.end() - 1
        rest, at = page[match.end() : closing], closing + 1
        if name.startswith("/"):
            yield "end", name[1:], ""
        elif name in _RAW:
            closing = find(f"</{name}", at, lower)
            at = end if closing < 0 else closing
        else:
            yield "start", name, rest


def extract_html(page: str) -> Extract:
    """Return the main text of a page, its title and its date."""
    found = _Page()
    for kind, value, rest in _tokens(page):
        if kind == "text":
            found.text(value)
        elif kind == "start":
            found.start(value, rest)
        else:
            found.end(value)
    return found.extract()


def decode_html(data: bytes, name: str, encoding: str | None, log: Log) -> str:
    """Decode a page: UTF-8 if it is, else by its own declaration, else by detection."""
    declared = _CHARSET.search(data[:4096])
    if encoding is None and declared and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            data.decode("utf-8")
        except UnicodeError:
            try:
                encoding = check_encoding(declared[1].decode("ascii").lower())
            except ValueError:
                encoding = None
            if encoding in ("iso8859-1", "ascii"):
                encoding = "cp1252"  # as browsers do
            if encoding == "utf-8":
                encoding = None
    return decode(data, name, encoding, log)


def open_html(source: Source) -> Table:
    """Read the main text of a page."""
    page = decode_html(source.content(), source.name, source.options.encoding, source.log)
    return document_table(extract_html(page), source)


FORMATS = (Reader("html", open_html, (".html", ".htm", ".xhtml", ".xht"), in_folder=True),)
