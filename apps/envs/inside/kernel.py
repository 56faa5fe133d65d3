"""A notebook's kernel: the home's Python, with ipykernel from the tools' runtime behind every package of the image.

`--check`: whether it would start. A container image's Python may be another than the tools', and then brings its own.
"""

import importlib.util
import os
import sys

if __name__ == "__main__":
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        sys.path.pop(0)
    if not os.environ.get("PLSTACK_CONTAINER_IMAGE") or importlib.util.find_spec("ipykernel") is None:
        tool = os.environ["PLSTACK_TOOL_JUPYTERLAB"]
        sys.path.append(f"{tool}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages")
    try:
        from ipykernel import kernelapp  # type: ignore[import-not-found]
    except ImportError as error:
        sys.exit(f"This Python has no ipykernel ({error}). In a terminal: pip install ipykernel")

    if sys.argv[1:] != ["--check"]:
        sys.path.insert(0, "")
        kernelapp.launch_new_instance()
