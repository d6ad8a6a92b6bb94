"""The notebooks of the gallery: ``python -m docs.notebooks`` runs them and writes their outputs and their pages.

A notebook is plain Jupyter (nbformat 4) and opens anywhere. It is run here without Jupyter: the last expression of a
cell is shown by its ``_repr_html_`` or its ``repr``, and open figures of matplotlib as pictures.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "gallery"
Cell = dict[str, Any]


def notebooks() -> list[Path]:
    """Return the notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def source(cell: Cell) -> str:
    """Return the text of a cell."""
    return "".join(cell["source"])


def run_cell(code: str, namespace: dict[str, Any]) -> list[Cell]:
    """Run a cell and return its outputs as nbformat has them."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    shown, value = io.StringIO(), None
    with contextlib.redirect_stdout(shown):
        exec(compile(tree, "cell", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)
    outputs: list[Cell] = []
    if shown.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": shown.getvalue().splitlines(keepends=True)})
    if value is not None and not type(value).__module__.startswith("matplotlib"):
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_") and (markup := value._repr_html_()):
            data["text/html"] = markup.splitlines(keepends=True)
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    shots = [{"output_type": "display_data", "metadata": {}, "data": {"image/png": each}} for each in pictures(value)]
    return outputs + shots


def pictures(value: Any) -> list[str]:
    """Return the open figures of matplotlib in base64, and that of the value; close them."""
    plt = sys.modules.get("matplotlib.pyplot")
    figures = [plt.figure(number) for number in plt.get_fignums()] if plt else []
    own = getattr(value, "figure", None) if type(value).__module__.startswith("matplotlib") else None
    found = []
    for figure in [*figures, *([own] if own is not None and own not in figures else [])]:
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=100, bbox_inches="tight", metadata={"Software": None})
        found.append(base64.b64encode(file.getvalue()).decode("ascii"))
    if plt:
        plt.close("all")
    return found


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells."""
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("Agg")
    pyplot.close("all")  # figures left open before are not this notebook's
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = run_cell(source(cell), namespace)
    return notebook


def page(notebook: dict[str, Any], name: str) -> str:
    """Return the page of a notebook for the site; it refers to pictures beside it."""
    parts, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(source(cell))
            continue
        parts.append(f"```py\n{source(cell)}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                number += 1
                parts.append(f"![Output]({name}-{number}.png)")
            elif "text/html" in data:
                markup = "".join(data["text/html"])
                parts.append(f'```{{raw}} html\n<div style="overflow-x: auto">\n{markup}\n</div>\n```')
            else:
                parts.append(f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```")
    parts.append(f"The notebook: {{download}}`{name}.ipynb`. `python -m docs.notebooks` made this page.")
    return "\n\n".join(parts) + "\n"


def write(path: Path) -> None:
    """Run a notebook; write it with its outputs, its page and its pictures."""
    done = run(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(done, path.stem), encoding="utf-8")
    outputs = [output for cell in done["cells"] for output in cell.get("outputs", ())]
    images = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    for number, image in enumerate(images, 1):
        path.with_name(f"{path.stem}-{number}.png").write_bytes(base64.b64decode(image))


if __name__ == "__main__":
    for place in map(Path, sys.argv[1:] or notebooks()):
        write(place)
        print(place.name)
