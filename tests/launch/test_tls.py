"""A copy of `make run` that people reach by https behaves as one; on loopback it stays plain."""

import json
import os
import subprocess
import sys

import pytest

from plstack.launch.layout import ROOT

NAMES = ("SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE",
         "SECURE_PROXY_SSL_HEADER", "SECOND_FACTOR_BY_DEFAULT")  # fmt: skip
PRINT = f"""
import json
from django.conf import settings
print(json.dumps({{name: getattr(settings, name) for name in {NAMES!r}}}))
"""


def told(module: str, **variables: str) -> dict[str, object]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PLSTACK_O")}
    env |= {"DJANGO_SETTINGS_MODULE": f"plstack.settings.{module}", **variables}
    done = subprocess.run([sys.executable, "-c", PRINT], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    values: dict[str, object] = json.loads(done.stdout)
    return values


def test_behind_tls_it_is_as_strict_as_a_server() -> None:
    embedded = told("embedded", PLSTACK_ORIGINS="https://ai.example.org")
    assert embedded == told("prod", PLSTACK_ORIGINS="https://ai.example.org")
    assert embedded["SESSION_COOKIE_SECURE"] is embedded["CSRF_COOKIE_SECURE"] is True
    assert embedded["SECURE_HSTS_SECONDS"] == 365 * 24 * 3600


@pytest.mark.parametrize("origins", ["", "http://ai.example.org", "https://ai.example.org,http://ai.lan"])
def test_where_somebody_comes_by_plain_http_their_session_works(origins: str) -> None:
    plain = told("embedded", PLSTACK_ORIGINS=origins)
    assert plain["SESSION_COOKIE_SECURE"] is plain["SECURE_SSL_REDIRECT"] is False
    assert plain["SECURE_PROXY_SSL_HEADER"] is None
