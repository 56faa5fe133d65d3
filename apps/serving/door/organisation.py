"""One address for an organisation that speaks OpenAI's protocol: the model's name says which service answers."""

import asyncio
import json
import math
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.serving.door import admitting, directory
from apps.serving.door.admitting import Caller, Callers
from apps.serving.door.bodies import Body, ClientGone, TooLarge
from apps.serving.door.call import CLIENT_GONE, Call
from apps.serving.door.directory import Directory, Named, Names, in_turn
from apps.serving.door.refusing import Refusal
from apps.serving.door.relaying import RETRY_S, Relay
from apps.serving.door.routes import Route
from apps.serving.door.sharing import Shared
from apps.serving.door.tokens import Tokens
from apps.workloads.gateway import storing
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.relay import Message, Receive

MODELS = "/v1/models"
CALLS = frozenset({"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"})
MOST_BODY = 32 << 20
MOST_HELD = 512 << 20
"""Bytes of bodies that one process holds at a time: each is read whole, since the model's name may stand anywhere.

Nobody who holds none is kept out: `Shared`.
"""
SILENCE_S = 60.0
LARGE = 256 * 1024
REPLACED = frozenset({b"content-length", b"transfer-encoding", b"accept-encoding", b"content-encoding"})


class _Full(Exception):
    """The organisation's bodies are as large as they may be together."""


@dataclass(slots=True)
class OrganisationDoor:
    """Of one process. `relay` carries what has been understood."""

    relay: Relay
    directory: Directory = field(
        default_factory=lambda: Directory(lambda which: storing.in_thread(directory.read, which))
    )
    callers: Callers = field(
        default_factory=lambda: Callers(lambda *which: storing.in_thread(admitting.read_of_organisation, *which))
    )
    memory: Shared = field(default_factory=lambda: Shared(MOST_HELD))

    async def answer(self, call: Call, organisation_id: UUID, receive: Receive) -> None:
        secret = admitting.secret_in(call.scope["headers"])
        caller = await self.callers.get(organisation_id, secret) if secret else None
        if caller is None:
            await call.refuse(Refusal.BAD_KEY if secret else Refusal.NO_KEY)
            return
        names = await self.directory.get(organisation_id)
        if names is None:
            await call.refuse(Refusal.UNKNOWN)
            return
        method, path = call.scope["method"], call.scope["path"]
        if method == "POST" and path in CALLS:
            await self._lead(call, organisation_id, caller, names, receive)
        elif method in ("GET", "HEAD") and (path == MODELS or path.startswith(f"{MODELS}/")):
            await _tell_models(call, _allowed(caller, names), path.removeprefix(MODELS).removeprefix("/"))
        else:
            await call.refuse(Refusal.NO_CALL)

    async def _lead(self, call: Call, organisation_id: UUID, caller: Caller, names: Names, receive: Receive) -> None:
        content = bytearray()
        try:
            await self._read(call, organisation_id, receive, content)
            body = bytes(content)
            asked = await _parsed(body)
            if asked is None:
                await call.refuse(Refusal.NO_JSON)
                return
            wanted = _allowed(caller, names).get(asked["model"])
            named, route = await self._route(names, wanted) if wanted else (None, None)
            if named is None or route is None:
                await call.refuse(Refusal.NO_MODEL)
                return
            if named.upstream != asked["model"]:
                body = json.dumps({**asked, "model": named.upstream}).encode()
            call.scope, call.tokens = _with_body(call, body), Tokens()
            await self.relay.carry(call, caller, route, _again(body, receive))
        except TooLarge:
            await call.refuse(Refusal.TOO_LARGE)
        except ClientGone:
            call.status = call.status or CLIENT_GONE
        except _Full:
            await call.refuse(Refusal.BUSY, RETRY_S)
        finally:
            self.memory.give_back(organisation_id, len(content))

    async def _read(self, call: Call, organisation_id: UUID, receive: Receive, content: bytearray) -> None:
        if call.announced > MOST_BODY:
            raise TooLarge
        async for piece in Body(receive, MOST_BODY, SILENCE_S):
            if not self.memory.take(organisation_id, len(piece)):
                raise _Full
            content += piece

    async def _route(self, names: Names, wanted: Named) -> tuple[Named, Route | None]:
        """The first in turn that has a replica; where none has, the first that there is."""
        first: tuple[Named, Route | None] = (wanted, None)
        for named in in_turn(names, wanted.name):
            route = await self.relay.routes.get(named.label)
            if route is not None and route.replicas:
                return named, route
            if first[1] is None and route is not None:
                first = named, route
        return first


def _allowed(caller: Caller, names: Names) -> Names:
    """Those that the key is for; one may fall back to others all the same."""
    return {name: each for name, each in names.items() if not caller.models or name in caller.models}


async def _parsed(content: bytes) -> dict[str, Any] | None:
    """A JSON object with a model's name, else None."""
    try:
        found = await asyncio.to_thread(_loads, content) if len(content) > LARGE else _loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("model"), str) else None


def _loads(content: bytes) -> Any:
    """As JSON is, and not as Python takes it: what is passed on under another name has to be JSON, too."""
    return json.loads(content, parse_constant=_refuse, parse_float=_finite)


def _refuse(word: str) -> None:
    raise ValueError(word)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _with_body(call: Call, body: bytes) -> dict[str, Any]:
    """The request as the service is to see it. An answer that is packed could not be read along."""
    kept = [(name, value) for name, value in call.scope["headers"] if name.lower() not in REPLACED]
    more: Headers = [(b"content-length", str(len(body)).encode()), (b"accept-encoding", b"identity")]
    return {**call.scope, "headers": [*kept, *more]}


def _again(body: bytes, receive: Receive) -> Receive:
    """What has been read, then whatever comes: that the caller has gone."""
    told: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return told.pop() if told else await receive()

    return next_message


async def _tell_models(call: Call, names: Names, wanted: str) -> None:
    if wanted and wanted not in names:
        await call.refuse(Refusal.NO_MODEL)
        return
    shown = _model(names[wanted]) if wanted else {"object": "list", "data": [_model(each) for each in names.values()]}
    body = json.dumps(shown).encode()
    sent: Headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *call.more]
    await call.tell({"type": "http.response.start", "status": 200, "headers": sent})
    await call.tell({"type": "http.response.body", "body": b"" if call.scope["method"] == "HEAD" else body})


def _model(named: Named) -> dict[str, Any]:
    return {"id": named.name, "object": "model", "created": named.created, "owned_by": named.label}
