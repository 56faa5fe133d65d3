"""The platform's own tools that work brings along, as runtimes of exact requirements: a file for each."""

from functools import cache
from pathlib import Path

from apps.workloads.spec import Image

FOLDER = Path(__file__).resolve().parent


@cache
def tool(name: str) -> Image:
    """Exact requirements, as `uv pip compile --universal` resolved them from the name of the file; JupyterLab's with
    `jupyter-resource-usage` and `jupyterlab-language-pack-zh-CN`."""
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return Image(name, tuple(line for line in lines if line and not line.startswith("#")))
