"""Opening files from elsewhere: regular ones only, within a limit, never waiting."""

import os

import pytest

from grampus._files import open_regular
from tests import timing


def refusal(path, **options):
    """Return why a file is refused; fail if opening it waits."""
    found = timing.refusal(open_regular, path, **options)
    assert isinstance(found, OSError)
    assert found.filename == os.fspath(path)
    return found.strerror


def test_a_regular_file_is_opened(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"whale")
    (tmp_path / "link").symlink_to(path)
    for name in (path, str(path), tmp_path / "link"):
        with open_regular(name, limit=5) as file:
            assert file.read() == b"whale"


def test_everything_else_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("fifo", "zero"):
        assert refusal(tmp_path / name) == "not a regular file but a device, FIFO or socket"
    assert refusal(tmp_path) == "Is a directory"
    assert refusal(tmp_path / "absent") == "No such file or directory"
    assert "null" in refusal(str(tmp_path / "a\0b"))


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.truncate(3_000_000)
    assert refusal(path, limit=2_000_000) == "file too large: 3.0 MB, at most 2.0 MB"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files through /proc")
def test_a_refused_file_is_closed(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with pytest.raises(OSError, match="regular"):
            open_regular("/dev/null")
    assert len(os.listdir("/proc/self/fd")) <= before + 1
