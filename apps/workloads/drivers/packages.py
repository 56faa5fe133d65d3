"""Where packages come from here: the index that this machine's pip is set to, for the pip of the workloads.

Standard library only. pip's documentation, "Configuration": variables win over files, the user's over the machine's.
"""

import configparser
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

_OPTIONS = ("index-url", "extra-index-url", "trusted-host")


def settings(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """`PIP_INDEX_URL`, `PIP_EXTRA_INDEX_URL` and `PIP_TRUSTED_HOST` as far as set.

    Addresses with a password in them are left out: workloads belong to tenants, the password does not.
    """
    found = {}
    for option in _OPTIONS:
        name = f"PIP_{option.upper().replace('-', '_')}"
        value = environ.get(name) or _from_files(option, environ)
        if value and not any(urlsplit(word).password for word in value.split()):
            found[name] = " ".join(value.split())
    return found


def _from_files(option: str, environ: Mapping[str, str]) -> str:
    value = ""
    for path in _files(environ):
        parser = configparser.RawConfigParser()
        with suppress(configparser.Error, OSError, UnicodeDecodeError):
            parser.read(path)
        value = parser.get("global", option, fallback=value)
    return value


def _files(environ: Mapping[str, str]) -> list[Path]:
    """Later files win."""
    home = Path(environ.get("HOME") or "/nonexistent")
    chosen = [Path(environ["PIP_CONFIG_FILE"])] if environ.get("PIP_CONFIG_FILE") else []
    return [Path("/etc/pip.conf"), home / ".pip/pip.conf", home / ".config/pip/pip.conf", *chosen]
