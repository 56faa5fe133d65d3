"""What the door says itself: JSON with a code and a sentence, in the caller's language, never cached.

It has the members that clients of OpenAI's protocol read.
"""

import json
from enum import Enum
from http import HTTPStatus

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.pages import language_of
from apps.workloads.gateway.relay import Send


class Refusal(Enum):
    """Status, code and sentence of each."""

    UNKNOWN = (404, "no_such_service", _("There is no service at this address."))
    NO_KEY = (401, "key_required", _("Send a key of this address: Authorization: Bearer plsv_…"))
    BAD_KEY = (401, "key_refused", _("This key does not open this address, or has ended."))
    NO_CALL = (404, "unknown_call", _("There is nothing at this path. Calls begin with /v1/, such as /v1/models."))
    NO_MODEL = (404, "model_not_found", _("No model at this address has this name, or the key is not for it."))
    NO_JSON = (400, "invalid_json", _("The body has to be a JSON object that names its model."))
    TOO_OFTEN = (429, "too_many_requests", _("This key has used up its requests for now."))
    TOO_MANY_TOKENS = (429, "too_many_tokens", _("This key has used up its tokens for now."))
    TOO_LARGE = (413, "body_too_large", _("The request is larger than the service takes."))
    STOPPED = (503, "stopped", _("The service is stopped."))
    STARTING = (503, "not_ready", _("No replica of the service is ready yet."))
    BUSY = (503, "busy", _("The door has as many requests as it can hold."))
    BROKEN = (502, "replica_failed", _("The replica broke off before it answered. Its log may say why."))
    SILENT = (504, "replica_silent", _("The replica did not answer in time."))
    AWAY = (503, "platform_away", _("The platform cannot be asked now. What runs goes on running."))

    def __init__(self, status: int, code: str, words: Promise) -> None:
        self.status, self.code, self.words = status, code, words


async def refuse(
    refusal: Refusal, incoming: Headers, send: Send, *, more: Headers, request_id: str, retry_after_s: int | None = None
) -> int:
    """Answer, and return the status."""
    with override(language_of(incoming)):
        told = {"code": refusal.code, "message": str(refusal.words), "type": _type(refusal), "param": None}
        told["request_id"] = request_id
    body = json.dumps({"error": told}, ensure_ascii=False).encode()
    sent: Headers = [(b"content-type", b"application/json; charset=utf-8"), (b"cache-control", b"no-store"), *more]
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        sent.append((b"www-authenticate", b"Bearer"))
    if retry_after_s is not None:
        sent.append((b"retry-after", str(retry_after_s).encode()))
    sent.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
    return refusal.status


def _type(refusal: Refusal) -> str:
    if refusal.status == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limit_error"
    return "invalid_request_error" if refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
