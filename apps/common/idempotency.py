"""`Idempotency-Key` on every POST: a repeated key gets the first answer, and nothing happens twice.

The answer is stored in the transaction of what the request did, so there is never one without the other, whoever dies
in between. A second request with the same key waits for the first one's transaction. A refusal changed nothing worth
repeating and is not remembered: the request may be mended and sent again under its key.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.models import IdempotentAnswer
from apps.common.sealing import purpose_for, seal, unseal

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
MAX_KEY = 64
KEPT = timedelta(hours=24)
WAIT_MS = 10_000
LOCK_NOT_AVAILABLE = "55P03"
LARGEST_BODY = 1 << 20

INSERT = """
INSERT INTO common_idempotentanswer (user_id, organisation_id, key, path, request, headers, body)
VALUES (%s, %s, %s, %s, %s, '{}', '')
ON CONFLICT ON CONSTRAINT idempotent_answer_once DO NOTHING RETURNING id
"""


class KeyReused(Invalid):
    """The key was already used for another request."""

    code = "idempotency_key_reused"
    status = HTTPStatus.UNPROCESSABLE_ENTITY


def key_reused() -> KeyReused:
    return KeyReused(
        _("This Idempotency-Key was used for another request."),
        hint=_("Send each request with a key of its own."),
    )


class StillRunning(Conflict):
    """The first request with this key has not been answered yet."""

    code = "still_running"
    headers = {"Retry-After": "2"}


class Replayed(Exception):
    """Not an error: the stored answer is returned."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """What identifies a request: by whom, under which key, where, and what (both as SHA-256)."""

    user_id: int
    organisation_id: UUID | None
    key: str
    path: str
    request: str


def key_of(request: HttpRequest) -> str:
    """The request's key, empty if there is none; raises `Invalid` for one that is too long or unprintable."""
    key = request.headers.get(HEADER, "").strip()
    if len(key) > MAX_KEY or not key.isprintable():
        raise Invalid.field(HEADER, _("An Idempotency-Key has at most 64 characters, all of them printable."))
    return key


def identify(request: HttpRequest, actor: Actor, key: str, *, keyed: bool = False) -> RequestIdentity:
    """What identifies the request. Uploads are compared by type and length only: they are not read twice.

    `keyed`: sign the digest with the installation's key, so that a short secret cannot be guessed from the database.
    """
    content = request.body if request.content_type == "application/json" else b""
    kind = f"{request.headers.get('Content-Type', '').partition(';')[0]} {request.headers.get('Content-Length', '')}"
    told = content if content else kind.encode()
    digest = (
        salted_hmac("idempotency", told, algorithm="sha256").hexdigest() if keyed else hashlib.sha256(told).hexdigest()
    )
    path = hashlib.sha256(f"{request.method} {request.get_full_path()}".encode()).hexdigest()
    return RequestIdentity(actor.person(), actor.organisation_id, key, path, digest)


@dataclass(slots=True)
class FirstAnswer:
    """The right to answer a request for the first time."""

    row_id: int

    def remember(self, response: HttpResponseBase) -> None:
        """Store a successful answer for repetitions; release the key otherwise."""
        rows = IdempotentAnswer.objects.filter(pk=self.row_id)
        if not isinstance(response, HttpResponse) or not 200 <= response.status_code < 300:
            if not connection.needs_rollback:
                rows.delete()
            return
        render = getattr(response, "render", None)
        if render is not None:
            render()
        if len(response.content) > LARGEST_BODY:
            rows.delete()
            return
        kept = {name: response.headers[name] for name in ("Content-Type", "Location") if name in response.headers}
        body = seal(response.content, purpose=_purpose(self.row_id))
        rows.update(status=response.status_code, headers=kept, body=body)


@contextmanager
def answer_once(request: RequestIdentity) -> Iterator[FirstAnswer]:
    """Run the block in one transaction with its answer; raises `Replayed` if an answer is stored, `KeyReused` if the
    key was used for something else, `StillRunning` if the first request is still in progress.
    """
    with transaction.atomic():
        yield FirstAnswer(_claim(request))


def forget_old() -> int:
    """Delete expired answers; returns how many."""
    deleted, _by_model = IdempotentAnswer.objects.filter(created_at__lt=db_now() - KEPT).delete()
    return int(deleted)


def _claim(request: RequestIdentity) -> int:
    """The id of a new row. The insert waits for a transaction in progress with the same key."""
    while (row_id := _insert(request)) is None:
        row = _rows(request).first()
        if row is None:  # just let go of
            continue
        if row.created_at < db_now() - KEPT:
            _rows(request).filter(pk=row.pk).delete()
        elif row.request != request.request:
            raise key_reused()
        else:
            raise Replayed(_answer(row))
    return row_id


def _rows(request: RequestIdentity) -> QuerySet[IdempotentAnswer]:
    return IdempotentAnswer.objects.filter(
        user_id=request.user_id, organisation_id=request.organisation_id, key=request.key, path=request.path
    )


def _insert(request: RequestIdentity) -> int | None:
    values = [
        request.user_id,
        None if request.organisation_id is None else str(request.organisation_id),
        request.key,
        request.path,
        request.request,
    ]
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [str(WAIT_MS)])
            cursor.execute(INSERT, values)
            found = cursor.fetchone()
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")  # not for what the request itself waits for
    except OperationalError as error:
        if getattr(error.__cause__, "pgcode", None) != LOCK_NOT_AVAILABLE:
            raise
        raise StillRunning(_("The first request with this Idempotency-Key is still being worked on.")) from error
    return None if found is None else int(found[0])


def _answer(row: IdempotentAnswer) -> HttpResponse:
    body = unseal(bytes(row.body), purpose=_purpose(row.pk))
    return HttpResponse(body, status=row.status, headers={**row.headers, REPLAYED: "true"})


def _purpose(row_id: int) -> str:
    return purpose_for("common_idempotentanswer", row_id, "body")
