"""Every acceptance line at full size, each in its own process; resumable; one table at the end.

A line is a function without arguments in a module ``verify/issue_NN_*.py``::

    @line(issue=1, name="anmi", text="ANMI of 250 partitions in under 2 s.")
    def anmi_is_fast() -> Figure:
        ...
        return Figure(f"{seconds:.2f} s", passed=seconds < 2)
"""

from verify.registry import Figure, corpora, line

__all__ = ["Figure", "corpora", "line"]
