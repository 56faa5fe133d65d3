"""import-linter has a command but no module to run, and needs the checkout on the path."""

import sys
from pathlib import Path

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    sys.exit(lint_imports(no_cache=True) != EXIT_STATUS_SUCCESS)
