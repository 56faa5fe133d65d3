"""`python3 -m plstack.launch`: the version check has to parse and run on a Python that is too old for the rest."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036  the point is to say so on an older interpreter
    sys.exit("plstack: Python 3.11 or newer is needed, this is %d.%d (set PYTHON=... for make)" % sys.version_info[:2])  # noqa: UP031

from plstack.launch.cli import main

sys.exit(main(sys.argv[1:]))
