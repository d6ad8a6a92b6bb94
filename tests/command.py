"""The command, run in this process."""

import pytest

import grampus
from grampus.cli import main


def command(*words):
    """Run the command, and leave the settings of this process as they were; return its status."""
    with grampus.config(), pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code


def answer(capsys, *words):
    """Run the command; return status, output and errors."""
    return command(*words), *capsys.readouterr()
