"""WeChat and Microsoft on the loopback: authorise, token, who am I, as their documents describe them.

Codes work once and for the address they were given for; secrets and access tokens are checked; errors look as theirs
do (WeChat: status 200 and `errcode`; Microsoft: status 400 or 401 and `error`).
"""

import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

WECHAT_ID, WECHAT_SECRET = "wx0123456789abcdef", "wechat-secret"
MICROSOFT_ID, MICROSOFT_SECRET = "11111111-2222-3333-4444-555555555555", "microsoft-secret"
TENANT = "99999999-8888-7777-6666-555555555555"
Facts = dict[str, Any]


@dataclass
class Person:
    """Who is signed in at the provider, as it tells of them."""

    wechat: Facts = field(default_factory=lambda: {"openid": "o-lin", "unionid": "u-lin", "nickname": "小林"})
    microsoft: Facts = field(
        default_factory=lambda: {
            "id": "ms-lin",
            "displayName": "Lin Xiao",
            "userPrincipalName": "lin@contoso.example",
            "mail": "lin@contoso.example",
        }
    )


@dataclass
class Provider:
    address: str = ""
    person: Person = field(default_factory=Person)
    denies: bool = False
    facts_fail: bool = False
    codes: dict[str, str] = field(default_factory=dict)  # code → the redirect address that it was given for
    tokens: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def new_code(self, redirect: str) -> str:
        code = secrets.token_urlsafe(16)
        self.codes[code] = redirect
        return code

    def new_token(self) -> str:
        token = secrets.token_urlsafe(16)
        self.tokens.add(token)
        return token


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.provider.asked.append(url.path)
        query = dict(parse_qsl(url.query))
        if url.path == "/connect/qrconnect":
            return self.wechat_authorise(query)
        if url.path == "/sns/oauth2/access_token":
            return self.wechat_token(query)
        if url.path == "/sns/userinfo":
            return self.wechat_facts(query)
        if url.path.endswith("/oauth2/v2.0/authorize"):
            return self.microsoft_authorise(url.path, query)
        if url.path == "/v1.0/me":
            return self.microsoft_facts()
        return self.send_error(404)

    def do_POST(self) -> None:
        url = urlsplit(self.path)
        self.provider.asked.append(url.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if url.path == f"/{TENANT}/oauth2/v2.0/token":
            return self.microsoft_token(dict(parse_qsl(body)))
        return self.send_error(404)

    def wechat_authorise(self, query: dict[str, str]) -> None:
        if (query.get("appid"), query.get("scope"), query.get("response_type")) != (WECHAT_ID, "snsapi_login", "code"):
            return self.answer(200, {"errcode": 10003, "errmsg": "parameter"})
        back = {"state": query["state"]}
        if not self.provider.denies:  # denied: back without a code
            back["code"] = self.provider.new_code(query["redirect_uri"])
        return self.go(query["redirect_uri"], back)

    def wechat_token(self, query: dict[str, str]) -> None:
        if (query.get("appid"), query.get("secret")) != (WECHAT_ID, WECHAT_SECRET):
            return self.answer(200, {"errcode": 40125, "errmsg": "invalid appsecret"})
        if self.provider.codes.pop(query.get("code", ""), None) is None:
            return self.answer(200, {"errcode": 40163, "errmsg": "code been used"})
        token = self.provider.new_token()
        openid = self.provider.person.wechat["openid"]
        return self.answer(200, {"access_token": token, "expires_in": 7200, "openid": openid, "scope": "snsapi_login"})

    def wechat_facts(self, query: dict[str, str]) -> None:
        if self.provider.facts_fail or query.get("access_token") not in self.provider.tokens:
            return self.answer(200, {"errcode": 40001, "errmsg": "invalid credential"})
        return self.answer(200, self.provider.person.wechat)

    def microsoft_authorise(self, path: str, query: dict[str, str]) -> None:
        if path != f"/{TENANT}/oauth2/v2.0/authorize" or query.get("client_id") != MICROSOFT_ID:
            return self.answer(400, {"error": "unauthorized_client"})
        if self.provider.denies:
            return self.go(query["redirect_uri"], {"error": "access_denied", "state": query["state"]})
        code = self.provider.new_code(query["redirect_uri"])
        return self.go(query["redirect_uri"], {"code": code, "state": query["state"]})

    def microsoft_token(self, form: dict[str, str]) -> None:
        if (form.get("client_id"), form.get("client_secret")) != (MICROSOFT_ID, MICROSOFT_SECRET):
            return self.answer(401, {"error": "invalid_client"})
        given_for = self.provider.codes.pop(form.get("code", ""), None)
        if given_for is None or given_for != form.get("redirect_uri"):
            return self.answer(400, {"error": "invalid_grant"})
        return self.answer(200, {"token_type": "Bearer", "expires_in": 3599, "access_token": self.provider.new_token()})

    def microsoft_facts(self) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.provider.facts_fail or token not in self.provider.tokens:
            return self.answer(
                401, {"error": {"code": "InvalidAuthenticationToken", "message": "Access token is empty."}}
            )
        return self.answer(200, self.provider.person.microsoft)

    def answer(self, status: int, facts: Facts) -> None:
        """WeChat calls its JSON plain text, without a character set."""
        body = json.dumps(facts, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if self.path.startswith("/sns/") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def go(self, address: str, query: dict[str, str]) -> None:
        self.send_response(302)
        self.send_header("Location", f"{address}?{urlencode(query)}")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def running() -> Iterator[Provider]:
    provider = Provider()
    handler = type("BoundHandler", (Handler,), {"provider": provider})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    provider.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
