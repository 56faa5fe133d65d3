"""A notebook's kernel: the home's Python, with ipykernel from the tools' runtime behind every package of the image."""

import os
import sys

if __name__ == "__main__":
    if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
        sys.path.pop(0)
    tool = os.environ["PLSTACK_TOOL_JUPYTERLAB"]
    sys.path.append(f"{tool}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages")
    from ipykernel import kernelapp  # type: ignore[import-not-found]

    sys.path.insert(0, "")
    kernelapp.launch_new_instance()
