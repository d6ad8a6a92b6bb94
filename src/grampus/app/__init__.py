"""The local app: a run in the browser, served on this computer alone, every change saved as it is made."""

from .server import Server
from .session import Session
from .store import Store
from .work import Work

__all__ = ["Server", "Session", "Store", "Work"]
