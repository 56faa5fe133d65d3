"""The API's description, kept in git so that a change of the API is seen in review."""

import difflib
import sys
from io import StringIO
from pathlib import Path

import django
from django.core.management import call_command

PATH = Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml"


def current() -> str:
    """What drf-spectacular makes of the code; a warning (an endpoint that it cannot describe) is an error."""
    out = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    return out.getvalue()


def main(write: bool) -> int:
    django.setup()
    schema = current()
    if write:
        PATH.parent.mkdir(exist_ok=True)
        PATH.write_text(schema)
        return 0
    kept = PATH.read_text() if PATH.exists() else ""
    if kept == schema:
        return 0
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), schema.splitlines(True), "kept", "code", n=1))
    print("The API changed. If that is meant: make openapi")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["write"]))
