"""SMS through any HTTP gateway; address, headers and body are configured in the settings."""

import hashlib
import hmac
import http.client
import json
import ssl
from collections.abc import Mapping
from urllib.parse import SplitResult, urlencode, urlsplit

from apps.notifications.gateways.base import Message, Outcome, Result, error_text
from apps.notifications.settings import BodyFormat, SmsSettings, pairs

TIMEOUT_S = 10
ANSWER_BYTES = 4096
TYPES = {BodyFormat.JSON: "application/json", BodyFormat.FORM: "application/x-www-form-urlencoded"}


class HttpSmsGateway:
    """One POST per message. 4xx: refused for good; 429 and 5xx: retry later; no answer: unknown."""

    def __init__(self, chosen: SmsSettings) -> None:
        self.chosen = chosen

    def open(self) -> None:
        return

    def close(self) -> None:
        return

    def send(self, message: Message) -> Result:
        body = body_of(self.chosen, message)
        connection = _connection(urlsplit(self.chosen.url))
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            return Result(Outcome.LATER, error_text(error))
        try:
            connection.request(
                "POST", _path(self.chosen.url), body=body, headers=headers_of(self.chosen, message, body)
            )
            answer = connection.getresponse()
            return self._result(answer.status, answer.read(ANSWER_BYTES).decode(errors="replace"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Result(Outcome.UNKNOWN, error_text(error))
        finally:
            connection.close()

    def _result(self, status: int, text: str) -> Result:
        detail = " ".join(f"{status} {text}".split())[:300]
        if status == http.HTTPStatus.TOO_MANY_REQUESTS or status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            return Result(Outcome.LATER, detail)
        if not http.HTTPStatus.OK <= status < http.HTTPStatus.MULTIPLE_CHOICES or self.chosen.success not in text:
            return Result(Outcome.REFUSED, detail)
        return Result(Outcome.SENT, detail)


def body_of(chosen: SmsSettings, message: Message) -> bytes:
    """The body's fields with {phone}, {text} and {key} replaced; values are quoted as the format asks."""
    fields = {name: _filled(value, message) for name, value in pairs(chosen.body)}
    if chosen.format is BodyFormat.JSON:
        return json.dumps(fields, ensure_ascii=False).encode()
    return urlencode(fields).encode()


def headers_of(chosen: SmsSettings, message: Message, body: bytes) -> Mapping[str, str]:
    headers = {"Content-Type": TYPES[chosen.format], "Accept": "application/json", "Connection": "close"}
    headers |= {name: _filled(value, message) for name, value in pairs(chosen.headers)}
    if chosen.authorization:
        headers["Authorization"] = chosen.authorization
    if chosen.signature_header and chosen.signing_key:
        headers[chosen.signature_header] = hmac.new(chosen.signing_key.encode(), body, hashlib.sha256).hexdigest()
    return headers


def _filled(template: str, message: Message) -> str:
    """Not str.format: a template may hold braces of its own."""
    filled = template
    for name, value in (("{phone}", message.to), ("{key}", message.key), ("{text}", message.text)):
        filled = filled.replace(name, value)
    return filled


def _connection(parts: SplitResult) -> http.client.HTTPConnection:
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S, context=context)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)


def _path(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
