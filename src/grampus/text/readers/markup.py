"""Text with marks: Markdown, reStructuredText, LaTeX and subtitles, without what is not for reading."""

import re
from collections.abc import Callable
from functools import partial

from ..clean.markup import drop_marks
from .decode import decode
from .extract import Extract, document_table, one_line, tidy
from .registry import Reader, Source, Table

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FRONT_DATE = re.compile(r"^date:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_MD_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(\S.*)$\n*", re.MULTILINE)
_MD_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^()\n]*\)|(?<!\w)\[([^\[\]\n]+)\]\[[^\[\]\n]*\]")
_MD_REFERENCE = re.compile(r"^[ ]{0,3}\[[^\]\n]+\]:[ \t]*\S+.*$", re.MULTILINE)
_MD_MARKS = re.compile(
    r"^[ \t]*(?:[>*+-]|\d{1,3}[.)])[ \t]+|^[ \t]*(?:```|~~~).*$|^[ \t]*(?:[*_-][ \t]*){3,}$", re.MULTILINE
)
_MD_EMPHASIS = re.compile(r"(?<!\w)([*_`]{1,3})(?=\S)([^*_`\n]+)\1(?!\w)")
_HTML_TAG = re.compile(r"</?[a-zA-Z](?:[^<>\n]{0,500}|[\w-]*\s+[\w-]+=[^<>]{0,2000})>")
_HTML_COMMENT = re.compile("<!--")
_RST_HEADING = re.compile(
    r"^(?:([=\-~^\"'`#*+.:_<>])\1{2,}\n)?[ \t]*(\S.*)\n([=\-~^\"'`#*+.:_<>])\3{2,}[ \t]*\n+", re.MULTILINE
)
_RST_DIRECTIVE = re.compile(
    r"^[ \t]*\.\.[ \t]+(?:[\w:-]+::.*|_.*|\[.*|\|.*)$|^[ \t]*:[\w -]+:.*$|^[ \t]*\.\.[ \t]*$", re.MULTILINE
)
_RST_ROLE = re.compile(r":[\w:.+-]{1,60}:`~?!?([^`<\n]*)(?:<[^`>\n]*>)?`")
_RST_INLINE = re.compile(r"``([^`\n]+)``|`([^`<\n]+)(?:<[^`>\n]*>)?`_{0,2}|\*{1,2}([^*\n]+)\*{1,2}")
_TEX_COMMENT = re.compile(r"(?<!\\)%.*")
_TEX_BODY = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|\Z)", re.DOTALL)
_TEX_TITLE = re.compile(r"\\title(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEX_OPENING = re.compile(
    r"\\begin\{(?P<name>(?:equation|align|displaymath|eqnarray|gather|multline|tabular|tikzpicture|verbatim|lstlisting)"
    r"\*?)\}"
    r"|\\\[|(?<!\\)\$\$"
)
_TEX_FORMULA = re.compile(r"(?<!\\)\$[^$\n]{0,500}(?<!\\)\$")
_TEX_SILENT = re.compile(
    r"\\(?:begin|end|label|ref|eqref|pageref|cite[a-z]*|bibliography|bibliographystyle|includegraphics|usepackage|"
    r"documentclass|newcommand|renewcommand|input|include|vspace|hspace|maketitle|url)"
    r"\*?(?:\[[^\]\n]{0,200}\])?(?:\{[^{}]{0,500}\})?"
)
_TEX_SECTION = re.compile(r"\\(?:part|chapter|section|subsection|subsubsection|paragraph)\*?\{([^{}]*)\}[ \t]*\n*")
_TEX_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]\n]{0,200}\])?|\\.|[{}~]")
_TEX_ESCAPED = re.compile(r"\\([$%&#_])")
_TIMING = re.compile(r"^(?:\d+[ \t]*\n)?[ \t]*(?:\d+:)?\d+:\d+[.,]\d+[ \t]*-->.*$", re.MULTILINE)
_CUE_MARK = re.compile(r"</?[a-zA-Z][^<>\n]*>|\{\\[^{}\n]*\}|^(?:WEBVTT|NOTE|STYLE|REGION)\b.*$", re.MULTILINE)


def _cut(text: str, opening: re.Pattern[str], closing: Callable[[re.Match[str]], str]) -> str:
    """Cut what stands between marks; an end that is not found once is not looked for again."""
    parts: list[str] = []
    at, lost = 0, set[str]()
    for match in opening.finditer(text):
        end_mark = closing(match)
        if match.start() < at or end_mark in lost:
            continue
        end = text.find(end_mark, match.end())
        if end < 0:
            lost.add(end_mark)
            continue
        parts += text[at : match.start()], " "
        at = end + len(end_mark)
    return "".join(parts) + text[at:]


def read_markdown(text: str) -> Extract:
    """Return the words of Markdown; a heading belongs to the paragraph after it."""
    title = date = ""
    front = _FRONT_MATTER.match(text)
    if front:
        found_title, found_date = _FRONT_TITLE.search(front[1]), _FRONT_DATE.search(front[1])
        title, date = found_title[1] if found_title else "", found_date[1] if found_date else ""
        text = text[front.end() :]
    text = _cut(drop_marks(text, []), _HTML_COMMENT, lambda _: "-->")
    heading = _MD_HEADING.search(text)
    text = _MD_REFERENCE.sub("", text)
    text = _MD_HEADING.sub(lambda match: match[1].rstrip(" \t#") + "\n", text)
    title = title or (_md_words(heading[1]).strip(" \t#") if heading else "")
    return Extract((tidy(_md_words(_MD_MARKS.sub("", text))),), title, date)


def _md_words(text: str) -> str:
    return _MD_EMPHASIS.sub(r"\2", _HTML_TAG.sub(" ", _MD_LINK.sub(r"\1\2", text)))


def read_rst(text: str) -> Extract:
    """Return the words of reStructuredText."""
    text = drop_marks(text, [])
    heading = _RST_HEADING.search(text)
    text = _RST_HEADING.sub(r"\2\n", text)
    text = _RST_DIRECTIVE.sub("", text)
    return Extract((tidy(_rst_words(text)),), _rst_words(heading[2]).strip() if heading else "")


def _rst_words(text: str) -> str:
    text = _RST_ROLE.sub(lambda match: match[1].rstrip(), text)
    return _RST_INLINE.sub(lambda match: (match[1] or match[2] or match[3]).rstrip(), text)


def _tex_end(opening: re.Match[str]) -> str:
    if opening["name"]:
        return f"\\end{{{opening['name']}}}"
    return "\\]" if opening[0] == "\\[" else "$$"


def read_latex(text: str) -> Extract:
    """Return the words of LaTeX: no preamble, comments, formulas, tables and references."""
    text = _TEX_COMMENT.sub("", text)
    title, body = _TEX_TITLE.search(text), _TEX_BODY.search(text)
    text = _TEX_FORMULA.sub(" ", _cut(body[1] if body else text, _TEX_OPENING, _tex_end))
    text = _TEX_SILENT.sub("", _TEX_TITLE.sub("", text))
    section = _TEX_SECTION.search(text)
    text = _TEX_COMMAND.sub(" ", _TEX_ESCAPED.sub(r"\1", _TEX_SECTION.sub(r"\1\n", text)))
    text = text.replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")
    name = title[1] if title else section[1] if section else ""
    return Extract((tidy(text),), one_line(_TEX_COMMAND.sub(" ", name)))


def read_subtitles(text: str) -> Extract:
    """Return what is spoken, without numbers, times and marks; a cue is a paragraph."""
    return Extract((tidy(_CUE_MARK.sub("", _TIMING.sub("", text))),))


def open_markup(source: Source, read: Callable[[str], Extract]) -> Table:
    """Read a file of marked text."""
    text = decode(source.content(), source.name, source.options.encoding, source.log)
    return document_table(read(text.replace("\r\n", "\n").replace("\r", "\n")), source)


_MARKDOWN = (".md", ".markdown", ".mkd", ".qmd", ".rmd")
FORMATS = tuple(
    Reader(name, partial(open_markup, read=read), suffixes, in_folder=True)
    for name, read, suffixes in (
        ("markdown", read_markdown, _MARKDOWN),
        ("rst", read_rst, (".rst", ".rest")),
        ("latex", read_latex, (".tex", ".latex", ".ltx")),
        ("subtitles", read_subtitles, (".srt", ".vtt")),
    )
)
