"""``python -m grampus`` is the command ``grampus``."""

from .cli import main

if __name__ == "__main__":
    main()
