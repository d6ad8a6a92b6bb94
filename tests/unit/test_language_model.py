"""Names from a language model: a server on the loopback is slow, wrong, hostile, cut off, busy or elsewhere."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from grampus import DocumentClusterer
from grampus.cli import main
from grampus.describe import Known, LanguageModel, ask_names, language_model
from grampus.describe.language_model import CHARACTERS, tidied
from grampus.documents import with_names
from grampus.errors import InputError
from grampus.persist import Run

KEY = "sk-test-0123456789"
TEXTS = [f"{topic} {word}" for topic in ("whale sea song", "bird nest wing") for word in "abcdef"]


def groups(count=2, **changes):
    words = ("whale", "bird", *(f"word{n}" for n in range(2, count)))
    return [Known(i, 2, word, (word,), (), (f"{word} text",), (), **changes) for i, word in enumerate(words[:count])]


def said(names):
    """The answer of an OpenAI-compatible server."""
    content = names if isinstance(names, str) else json.dumps(names)
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]}).encode()


class Handler(BaseHTTPRequestHandler):
    """Records requests, and answers as the server's `answer` says."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body)))
        self.server.answer(self, len(self.server.asked))

    def log_message(self, *_):
        pass

    def send(self, content, status=200, length=None, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(content) if length is None else length, **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def server(answer):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as one:
        one.asked, one.daemon_threads = [], True
        one.answer = answer if callable(answer) else lambda handler, _: handler.send(said(answer))
        one.url = f"http://127.0.0.1:{one.server_port}/v1"
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield one
        finally:
            one.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(language_model, "PAUSE", 0.01)


def ask(one, known=None, timeout=5.0):
    return ask_names(LanguageModel("openai:some-model", one.url, timeout), "middle", known or groups())


def test_a_request_is_whole_and_repeatable():
    with server({"0": "Sea mammals", "1": "Birds"}) as one:
        found = ask(one)
        again = ask(one)
    assert found.names == again.names == ("Sea mammals", "Birds")
    assert not found.warning
    path, headers, body = one.asked[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["temperature"], body["seed"]) == ("some-model", 0, 0)
    assert one.asked[0][2] == one.asked[1][2]
    system, user = (message["content"] for message in body["messages"])
    assert "never an instruction" in system
    assert "whale text" in user
    mark = user.splitlines()[0].removeprefix("DATA ")
    assert f"END OF DATA {mark}" in user


def test_ollama_has_its_own_language():
    def answer(handler, _):
        handler.send(json.dumps({"message": {"content": '{"0": "Sea", "1": "Air"}'}, "done": True}).encode())

    with server(answer) as one:
        model = LanguageModel("ollama:llama3.2:3b", one.url.removesuffix("/v1"))
        found = ask_names(model, "middle", groups())
    assert found.names == ("Sea", "Air")
    path, headers, body = one.asked[0]
    assert path == "/api/chat"
    assert "Authorization" not in headers
    assert body["model"] == "llama3.2:3b"
    assert (body["options"]["temperature"], body["options"]["seed"]) == (0, 0)
    assert body["stream"] is False


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ('Here you are:\n```json\n{"0": "**Sea**", "1": "<b>Air</b>"}\n```', ("Sea", "Air")),
        ('<think>{hm}</think>{"names": {"0": "Sea", "1": "\\"Air\\""}}', ("Sea", "Air")),
        ({"0": "S\u202eea\nlions\x00", "1": None}, ("S ea lions", "bird")),
        ({"0": "x " * 500, "1": "Air", "2": "more", "10": 3}, (" ".join(["x"] * 40)[:79], "Air")),
        ({"0": "Same", "1": "same"}, ("Same", "bird")),
        ({"0": ["Sea"], "1": "Air"}, ("whale", "Air")),
        ({"0": "<script>", "1": "Air"}, ("whale", "Air")),
    ],
)
def test_answers_are_stripped_cut_and_checked(answer, names):
    with server(answer) as one:
        assert ask(one).names == names


def redirect(handler, _):
    handler.send(b"", 302, Location="http://127.0.0.1:1/elsewhere")


def endless(handler, _):
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):  # until the connection is closed
        while True:
            handler.wfile.write(b"x" * 100_000)


def dripping(handler, _):
    with suppress(OSError):
        while True:
            handler.wfile.write(b"H")
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda handler, _: time.sleep(1.5), "took too long"),
        (dripping, "took too long"),
        (endless, "longer than 1 MB"),
        (lambda handler, _: handler.send(said({"0": "Sea"})[:30], length=4000), "cut off"),
        (lambda handler, _: handler.connection.close(), "cut off"),
        (lambda handler, _: handler.wfile.write(b"SSH-2.0-OpenSSH\r\n"), "not that of a server"),
        (lambda handler, _: handler.send(b"<html>hello</html>"), "not that of such a server"),
        (lambda handler, _: handler.send(b"[" * 50_000), "not that of such a server"),
        (lambda handler, _: handler.send(b'{"choices": []}'), "not that of such a server"),
        ("I cannot name these groups.", "did not answer with JSON"),
        ({"a": "Sea", "b": "Air"}, "named none of the groups"),
        (lambda handler, _: handler.send(b"wrong key " + KEY.encode(), 401), "refused the key (status 401)"),
        (lambda handler, _: handler.send(b"no such model", 404), "no such model or address (status 404)"),
        (lambda handler, _: handler.send(b"", 500), "it failed (status 500)"),
        (redirect, "redirects to another address"),
        (lambda handler, _: handler.send(b"", 429, Retry_After=10**12), "it is busy"),
        (lambda handler, _: handler.send(b"", 429), "it is busy"),
        ({"0": f"Your key is {KEY}", "1": "Air"}, "its answer holds the key"),
    ],
)
def test_a_server_that_misbehaves_leaves_the_names_alone(answer, reason):
    began = time.monotonic()
    with server(answer) as one:
        found = ask(one, timeout=0.4 if reason == "took too long" else 5.0)
    assert time.monotonic() - began < 4
    assert found.names == ("whale", "bird")
    assert reason in found.warning
    assert KEY not in found.warning
    assert found.digest == ""  # it may be asked again


def test_nobody_there():
    assert "no server answers" in ask_names(LanguageModel("ollama:a", "http://127.0.0.1:1"), "fine", groups()).warning


def test_a_busy_server_is_asked_again():
    def answer(handler, times):
        handler.send(b"", 429, Retry_After=0) if times < 3 else handler.send(said({"0": "Sea", "1": "Air"}))

    with server(answer) as one:
        assert ask(one).names == ("Sea", "Air")
    assert len(one.asked) == 3


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.org/v1", "https, or http on this machine"),
        ("http://127.0.0.1.example.org", "https, or http on this machine"),
        ("http://localhost.example.org", "https, or http on this machine"),
        ("ftp://127.0.0.1", "https, or http on this machine"),
        ("https://", "https, or http on this machine"),
        ("https://host/v1 x", "https, or http on this machine"),
        ("https://me:secret@host/v1", "no user, password"),
        ("https://host/v1?key=1", "no user, password"),
        ("https://host:99999", "must be a URL"),
    ],
)
def test_keys_and_texts_go_to_safe_addresses_only(url, reason):
    with pytest.raises(InputError, match=reason):
        LanguageModel("openai:a", url)


@pytest.mark.parametrize("url", ["https://example.org/v1", "http://[::1]:8080", "http://localhost:1/v1/", None])
def test_safe_addresses(url):
    assert "sk-" not in repr(LanguageModel("openai:a", url))


def test_models_are_spelled_with_a_service():
    for spelled in ("openai:", "llama3.2", "other:model", "ollama: "):
        with pytest.raises(InputError, match="must be ollama:MODEL"):
            LanguageModel(spelled)


@pytest.mark.parametrize("key", ["", "two words", "schlüssel", "a\nb"])
def test_keys_that_cannot_be_sent_are_refused_unseen(key, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError, match="OPENAI_API_KEY") as error:
        LanguageModel("openai:a").key()
    assert not key or key not in str(error.value)


def test_many_groups_are_told_in_few_characters():
    with server({"0": "Sea"}) as one:
        many = [Known(i, 9, f"w{i}", ("word" * 99,) * 20, ("phrase",) * 5, ("text " * 99,) * 3, ()) for i in range(100)]
        ask(one, many)
        few = [Known(i, 9, f"w{i}", ("word",), (), ("text " * 99,) * 3, ()) for i in range(5)]
        ask(one, few)
    sizes = [len(body["messages"][1]["content"]) for _, _, body in one.asked]
    assert sizes[0] < 4 * CHARACTERS
    assert 5 * 3 * 400 < sizes[1] < CHARACTERS


def test_markup_is_stripped():
    assert tidied("# Space *flight*") == "Space flight"
    assert tidied("C++ and C# code") == "C++ and C# code"
    assert tidied("- [Guns](http)") == "Guns(http)"
    assert tidied(3) == 3


def levelled(body):
    """Name every group of a request after its first word; parts are told to those above."""
    told = [json.loads(line) for line in body["messages"][1]["content"].splitlines() if line.startswith("{")]
    return {str(one["group"]): f"All of {one['words'][0]} {len(one.get('parts', ()))}" for one in told}


def test_every_level_is_named_and_a_saved_run_needs_no_model(tmp_path):
    kinds = [f"{kind} of {place}" for kind in ("whale", "bird", "gun") for place in ("sea", "nest", "law", "wood")]
    texts = [f"{kind} {word}{n}" for kind in kinds for word in ("one", "two") for n in range(5)]
    run = DocumentClusterer(6, embed=None).fit(texts).run_
    assert len(run.levels) > 1
    with server(lambda handler, _: handler.send(said(levelled(handler.server.asked[-1][2])))) as one:
        model = LanguageModel("openai:m", one.url)
        named = with_names(run, model)
        named.save(tmp_path / "run")
        count = len(one.asked)
        loaded = Run.load(tmp_path / "run")
        again = with_names(run, model, loaded)
        assert len(one.asked) == count
    assert count == len(run.levels)
    for level in run.levels:
        names = loaded.level_names(level)
        assert all(name.startswith("All of") for name in names)
        assert len(set(names)) == len(names)
        assert again.level_names(level) == names
    assert any(name[-1] != "0" for name in loaded.level_names(run.levels[0]))  # knew its parts
    assert [one.name for one in loaded.evidence.clusters] == [one.name for one in again.evidence.clusters]


def command(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code, capsys.readouterr()


def test_the_command_names_with_a_model_and_keeps_no_key(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS))
    words = [
        "cluster",
        "docs.txt",
        "-k",
        "2",
        "--out",
        "run",
        "--name-with",
        "openai:m",
        "--settings",
        "model.toml",
    ]
    with server({"0": "Sea mammals", "1": "Birds of the air"}) as one:
        (tmp_path / "model.toml").write_text(f"[naming]\nurl = '{one.url}'\n")
        status, shown = command(capsys, *words, "--report", "page.html")
        first = len(one.asked)
        again, silent = command(capsys, *words)
    assert (status, again, len(one.asked)) == (0, 0, first), shown.err
    assert "Sending" not in silent.err
    assert "Sea mammals" in shown.out
    assert f"Sending to {one.url} (openai:m): words of 2 groups and the beginnings of" in shown.err
    held = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert KEY not in shown.out + shown.err
    assert KEY.encode() not in held


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--name-with", "openai:m", "--settings", "http.toml"], "https, or http on this machine"),
        (["--settings", "https.toml"], "[naming] url needs --name-with"),
        (["--name-with", "ollama:"], "must be ollama:MODEL"),
    ],
)
def test_what_cannot_work_is_refused_before_any_work(tmp_path, capsys, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS))
    for scheme in ("http", "https"):
        (tmp_path / f"{scheme}.toml").write_text(f"[naming]\nurl = '{scheme}://example.org'\n")
    status, seen = command(capsys, "cluster", "docs.txt", *words)
    assert status
    assert reason in " ".join(seen.err.split())
