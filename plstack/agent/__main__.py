"""`python -m plstack.agent join --server URL --token TOKEN`: requires only Python.

The agent's packages come from the same locked environment as the platform's, which the first start creates.
"""

import importlib.util
import os
import sys

from plstack.launch import environment
from plstack.launch.layout import Layout
from plstack.launch.report import Reporter, Trouble

NEEDED = ("psutil", "pynvml")
TRIED = "PLSTACK_AGENT_ENVIRONMENT"


def _restart_in_environment() -> None:
    """Start again inside the environment; returns only if that was done already."""
    if os.environ.get(TRIED):
        return
    layout = Layout.from_environ()
    with Reporter(1).step("environment") as step:
        environment.ensure(layout, "quickstart", step)
    os.environ[TRIED] = "1"
    os.execv(layout.python, [str(layout.python), "-m", "plstack.agent", *sys.argv[1:]])  # noqa: S606


if any(importlib.util.find_spec(name) is None for name in NEEDED):
    try:
        _restart_in_environment()
    except (Trouble, OSError) as trouble:
        sys.exit(f"plstack: {trouble}")

from plstack.agent.cli import main  # noqa: E402 - needs the packages installed above

sys.exit(main())
