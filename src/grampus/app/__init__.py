"""The local app: a run in the browser, served on this computer alone, every change saved as it is made."""

from .pages import run_of_page
from .server import Server
from .session import Session
from .store import OpenRun
from .work import Making

__all__ = ["Making", "OpenRun", "Server", "Session", "run_of_page"]
