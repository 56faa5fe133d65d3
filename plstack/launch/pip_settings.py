"""Pass pip's settings to uv, which does not read them: a mirror set for pip then applies to uv as well."""

import ast
import os
import re
from collections.abc import Mapping
from pathlib import Path

# pip's options and the corresponding variables of uv. Options that are not here work with pip only.
VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "no-cache-dir": "UV_NO_CACHE",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
    "retries": "UV_HTTP_RETRIES",
    "keyring-provider": "UV_KEYRING_PROVIDER",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "HTTPS_PROXY",
}
SECTIONS = ("global", "install", ":env:")
"""Sections of pip's configuration; the later one wins."""


def uv_environment(listed: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for uv to download from the same places as pip. `listed`: the output of `pip config list`.

    The caller's own UV_* variables take precedence. Addresses may contain passwords, so they go into the environment
    and not on the command line, which everybody can read.
    """
    told = _options(listed)
    # As pip does: the system's certificates, the best of all indexes.
    found = {"UV_SYSTEM_CERTS": "1", "UV_INDEX_STRATEGY": "unsafe-best-match"}
    found |= {VARIABLES[name]: _value(name, value) for name, value in told.items() if name in VARIABLES}
    if "proxy" in told:
        found["HTTP_PROXY"] = found["HTTPS_PROXY"]
    cache = Path(environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or "/nonexistent", ".cache"))
    if "UV_CACHE_DIR" not in environ and not _is_own(cache / "uv"):
        found["UV_NO_CACHE"] = "1"
    own = {name for name in environ if name.startswith("UV_")}
    return {**environ, **{name: value for name, value in found.items() if value and name not in own}}


def _options(listed: str) -> dict[str, str]:
    rows = re.findall(r"""^(\S+?)\.([\w-]+)=('.*'|".*")$""", listed, re.MULTILINE)
    by_section = {section: {name: str(ast.literal_eval(value)) for of, name, value in rows if of == section}
                  for section in SECTIONS}  # fmt: skip
    return {name: value for section in SECTIONS for name, value in by_section[section].items()}


def _value(name: str, value: str) -> str:
    words = value.split()
    if name == "find-links":  # pip skips a missing folder, uv fails
        return ",".join(word for word in words if "://" in word or Path(word).exists())
    return " ".join(words)


def _is_own(folder: Path) -> bool:
    """Whether it, or its nearest existing parent, is the caller's: with `sudo` the home may be another person's."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return there.stat().st_uid == os.geteuid() and os.access(there, os.W_OK)
