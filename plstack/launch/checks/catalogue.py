"""Which checks there are."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [
    name for name in ("plstack", "apps", "scheduler", "tests", "benchmarks", "manage.py") if (ROOT / name).exists()
]
SETTINGS = "DJANGO_SETTINGS_MODULE"
# `check --deploy` looks at what an operator would set; these are values that a careful one could have chosen.
PRODUCTION = {
    SETTINGS: "plstack.settings.prod",
    "PLSTACK_SECRET_KEY": secrets.token_urlsafe(64),
    "PLSTACK_HOSTS": "ai.example.org",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A command for the environment's Python; it passes when the command's status is 0."""

    name: str
    what: str
    arguments: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    writes: bool = False


def _manage(*arguments: str) -> list[str]:
    return ["manage.py", *arguments]


TEST = {SETTINGS: "plstack.settings.test"}

# The slow ones first: two run at a time.
CHECKS = (
    Check("types", "mypy, strict", ["-m", "mypy", "plstack", "apps", "scheduler", "benchmarks"], TEST),
    Check("lint", "ruff's rules", ["-m", "ruff", "check", "--quiet", *SOURCES]),
    Check("format", "ruff's layout", ["-m", "ruff", "format", "--check", "--quiet", *SOURCES]),
    Check("layers", "who may import whom (import-linter)", ["-m", "plstack.launch.checks.layers"]),
    Check("shape", "length of files and functions, imports at the top", ["-m", "plstack.launch.checks.shape"]),
    Check("templates", "djLint's rules", ["-m", "djlint", "--lint", "--quiet", "templates"]),
    Check("migrations", "models and migrations agree", _manage("makemigrations", "--check", "--dry-run"), TEST),
    Check("deploy", "Django's deployment check, production settings",
          _manage("check", "--deploy", "--fail-level", "WARNING"), PRODUCTION),
    Check("openapi", "docs/openapi.yaml is what the code says", ["-m", "plstack.launch.checks.openapi"], TEST),
    Check("messages", "every message is translated", ["-m", "plstack.launch.messages", "check"], TEST),
    Check("locks", "the locks are complete and name no index", ["-m", "plstack.launch.checks.locks"]),
    Check("licences", "every dependency's licence is known and allowed", ["-m", "plstack.launch.checks.licences"]),
)  # fmt: skip

WRITERS = (
    Check("format-now", "ruff's layout, written", ["-m", "ruff", "format", *SOURCES], writes=True),
    Check("messages-now", "catalogues updated", ["-m", "plstack.launch.messages", "update"], TEST, writes=True),
    Check(
        "openapi-now", "API description written", ["-m", "plstack.launch.checks.openapi", "write"], TEST, writes=True
    ),
    Check("locks-now", "locks compiled", ["-m", "plstack.launch.checks.locks", "write"], writes=True),
    # Asks the package index: not among those that run everywhere.
    Check("recipes", "the platform's images resolve", ["-m", "plstack.launch.checks.recipes"], TEST, writes=True),
    Check("licences-now", "licences written", ["-m", "plstack.launch.checks.licences", "write"], writes=True),
)
