"""Where pip and npm download packages from: what the platform's staff chose, and else what the machine is set to.

Standard library only, and pip where it is. pip's documentation, "Configuration": variables win over files, the user's
over the machine's. npm's, "npmrc" and "config": its variables begin with npm_config_, in either case.
"""

import configparser
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

# What pip asks where nothing is set, as pip itself names it, and where the files of that index are.
try:
    from pip._internal.models.index import PyPI
except ImportError:  # in a shim, which asks no index itself
    PUBLIC_INDEX = PUBLIC_HOST = PUBLIC_FILES = ""
else:
    PUBLIC_INDEX, PUBLIC_HOST, PUBLIC_FILES = PyPI.simple_url, PyPI.netloc, f"{PyPI.file_storage_domain}:443"
DEFAULT_PORTS = {"http": 80, "https": 443}
# Each names a file with all certificates to trust; the first that exists is what this machine trusts.
_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE")
_SYSTEM_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_FURTHER = "NODE_EXTRA_CA_CERTS"
# pip's variables; the option of a name is the rest of it, in small letters with dashes.
_PIP = {
    "pip_index": "PIP_INDEX_URL",
    "pip_extra_indexes": "PIP_EXTRA_INDEX_URL",
    "pip_trusted_hosts": "PIP_TRUSTED_HOST",
}


@dataclass(frozen=True, slots=True)
class SoftwareSources:
    """Empty fields are as the machine is set, and else the public ones.

    Several addresses or hosts of pip stand with blanks between, those of `no_proxy` with commas, as the programs take
    them. `file_hosts`: where indexes keep the files themselves, as host or host:port, blanks between. `certificates`:
    PEM, of authorities to trust beside the machine's. `proxy`: http://host:port, the way to the outside.
    """

    pip_index: str = ""
    pip_extra_indexes: str = ""
    pip_trusted_hosts: str = ""
    npm_registry: str = ""
    file_hosts: str = ""
    certificates: str = ""
    proxy: str = ""
    no_proxy: str = ""

    def over(self, other: "SoftwareSources") -> "SoftwareSources":
        """These, and where they are empty the other's."""
        names = [field.name for field in fields(self)]
        return SoftwareSources(**{name: getattr(self, name) or getattr(other, name) for name in names})

    @property
    def addresses(self) -> list[tuple[str, str]]:
        """What programs would ask: "pip" or "npm", and an address; of npm only one that is set."""
        indexes = [self.pip_index or PUBLIC_INDEX, *self.pip_extra_indexes.split()]
        return [("pip", url) for url in indexes if url] + [("npm", url) for url in self.npm_registry.split()]

    @property
    def hosts(self) -> Iterator[str]:
        """`host:port` of the addresses that somebody chose, and of where their files are."""
        for url in (*self.pip_index.split(), *self.pip_extra_indexes.split(), *self.npm_registry.split()):
            parts = urlsplit(url)
            if parts.scheme in DEFAULT_PORTS and parts.hostname:
                yield f"{parts.hostname}:{parts.port or DEFAULT_PORTS[parts.scheme]}"
            if parts.hostname and parts.hostname == PUBLIC_HOST:
                yield PUBLIC_FILES
        yield from self.file_hosts.split()


def of_machine(environ: Mapping[str, str] = os.environ) -> SoftwareSources:
    """What this machine's pip, npm and proxy are set to.

    Addresses with a password in them are left out: workloads belong to tenants, the password does not.
    """
    found = {field: _pip_option(variable, environ) for field, variable in _PIP.items()}
    found["npm_registry"] = _npm_registry(environ)
    found["proxy"] = _first(environ, "https_proxy", "http_proxy")
    found["no_proxy"] = _first(environ, "no_proxy")
    kept = {name: value for name, value in found.items() if not any(map(_has_password, value.split()))}
    return SoftwareSources(**kept)


def _has_password(word: str) -> bool:
    try:
        return bool(urlsplit(word).password)
    except ValueError:
        return True


def _first(environ: Mapping[str, str], *names: str) -> str:
    return next((value for name in names for value in (environ.get(name), environ.get(name.upper())) if value), "")


def _pip_option(variable: str, environ: Mapping[str, str]) -> str:
    option = variable.removeprefix("PIP_").lower().replace("_", "-")
    value = environ.get(variable) or _from_pip_files(option, environ)
    return " ".join(value.split())


def _from_pip_files(option: str, environ: Mapping[str, str]) -> str:
    value = ""
    for path in _pip_files(environ):
        parser = configparser.RawConfigParser()
        with suppress(configparser.Error, OSError, UnicodeDecodeError):
            parser.read(path)
        value = parser.get("global", option, fallback=value)
    return value


def _pip_files(environ: Mapping[str, str]) -> list[Path]:
    """Later files win."""
    home = _home(environ)
    chosen = [Path(environ["PIP_CONFIG_FILE"])] if environ.get("PIP_CONFIG_FILE") else []
    return [Path("/etc/pip.conf"), home / ".pip/pip.conf", home / ".config/pip/pip.conf", *chosen]


def _npm_registry(environ: Mapping[str, str]) -> str:
    told = next((value for name, value in environ.items() if name.lower() == "npm_config_registry" and value), "")
    return told or _from_npm_files(environ)


def _from_npm_files(environ: Mapping[str, str]) -> str:
    value = ""
    for path in (Path("/etc/npmrc"), _home(environ) / ".npmrc"):
        with suppress(OSError, UnicodeDecodeError):
            for line in path.read_text().splitlines():
                name, _, said = line.partition("=")
                value = said.strip().strip("\"'") if name.strip() == "registry" else value
    return value


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "/nonexistent")


def variables(sources: SoftwareSources, bundle: str = "") -> dict[str, str]:
    """What a program has to be told so that its pip and npm ask these. `bundle`: where its certificates are."""
    told = {
        **{variable: getattr(sources, field) for field, variable in _PIP.items()},
        "npm_config_registry": sources.npm_registry,
        **dict.fromkeys((*_BUNDLES, _FURTHER, "npm_config_cafile", "GIT_SSL_CAINFO"), bundle),
    }
    return {name: value for name, value in told.items() if value}


def proxy_variables(proxy: str, no_proxy: str) -> dict[str, str]:
    """In both spellings: curl reads the lower one only, most others either. Nothing without a proxy."""
    if not proxy:
        return {}
    told = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": ",".join(filter(None, [LOOPBACK, no_proxy]))}
    return told | {name.upper(): value for name, value in told.items()}


LOOPBACK = "localhost,127.0.0.1,::1"


def bundle(sources: SoftwareSources, home: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The file below `home` with all certificates to trust; "" where nothing but the system's own is to be trusted.

    Made at the first need, named by its contents, readable for every user. Raises OSError.
    """
    named = [environ[name] for name in _BUNDLES if environ.get(name)]
    further = [environ[_FURTHER]] if environ.get(_FURTHER) else []
    if not named and not further and not sources.certificates:
        return ""
    base = next((text for path in (*named, *_SYSTEM_BUNDLES) if (text := _readable(path))), b"")
    more = [text for path in further if (text := _readable(path)) not in (b"", base)]
    content = b"\n".join([base, *more, sources.certificates.encode()])
    folder = home / "run" / "certificates"
    path = folder / f"{hashlib.sha256(content).hexdigest()[:24]}.pem"
    if not path.exists():
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        draft = path.with_name(f".{uuid4().hex}")
        draft.write_bytes(content)
        draft.chmod(0o644)
        draft.replace(path)
    return str(path)


def _readable(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
