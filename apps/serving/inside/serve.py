"""Starts `server.py` in the image's own Python, with the server's packages behind those of the image.

The image's packages come first: a script finds the versions that it was written for.
"""

import glob
import os
import runpy
import sys

if __name__ == "__main__":
    tool = os.environ["PLSTACK_TOOL_INFERENCE"]
    sys.path += glob.glob(f"{glob.escape(tool)}/lib/python3*/site-packages")
    runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py"), run_name="__main__")
