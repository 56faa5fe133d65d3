"""Runs a module of a tool's runtime, as `python -m` of its own Python would: `tool.py <runtime> <module> …`.

In a container image the runtime's Python has no system around it, and the machine's own Python runs this file instead.
"""

import runpy
import site
import sys

if __name__ == "__main__":
    _file, runtime, module, *rest = sys.argv
    sys.argv = [module, *rest]
    sys.path.pop(0)
    sys.prefix = sys.exec_prefix = runtime  # where JupyterLab looks for its files
    site.addsitedir(f"{runtime}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages")
    runpy.run_module(module, run_name="__main__", alter_sys=True)
