"""An organisation's own address: names of models lead to services, and what answers say of tokens is counted."""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import LazySettings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.serving.door import addresses
from apps.serving.door.admitting import Caller, Callers, Limits
from apps.serving.door.application import ServiceDoor
from apps.serving.door.directory import Directory, Named, Names, in_turn
from apps.serving.door.organisation import OrganisationDoor
from apps.serving.door.routes import Replica, Route, Routes
from apps.serving.door.sharing import Shared
from apps.serving.door.tokens import KEPT_BYTES, Tokens
from tests.serving.test_door import ask, nobody, read_request, replica

ORGANISATION, KEY_ID = uuid4(), uuid4()
LABEL = addresses.label_of_organisation(ORGANISATION)
CHAT = "/v1/chat/completions"
ANSWER = {"object": "chat.completion", "choices": [{"message": {"content": 'say "usage": {"prompt_tokens": 9}'}}],
          "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}}  # fmt: skip


@pytest.fixture(autouse=True)
def domain(settings: LazySettings) -> None:
    settings.GATEWAY_ORIGIN = "https://apps.example.com"


def named(name: str, label: str, fallback: str | None = None, upstream: str = "") -> Named:
    return Named(name, label, upstream or name, 1_700_000_000, fallback)


def door(names: list[Named], routes: dict[str, Route], caller: Caller | None = None) -> ServiceDoor:
    async def find(label: str) -> Route | None:
        return routes.get(label)

    async def admit(which: UUID, _digest: str) -> Caller | None:
        return (caller or Caller(KEY_ID, None, None)) if which == ORGANISATION else None

    async def look(which: UUID) -> Names | None:
        return {each.name: each for each in names} if which == ORGANISATION else None

    made = ServiceDoor(nobody, Routes(find), Callers(admit))
    made.organisations = OrganisationDoor(made.relay, Directory(look), Callers(admit))
    return made


def route(label: str, *replicas: Replica) -> Route:
    return Route(uuid4(), ORGANISATION, label, (), True, 2.0, 1 << 20, True, replicas)


async def call(at: ServiceDoor, body: Any, path: str = CHAT, **changes: Any) -> tuple[int, Any]:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, _headers, told = await ask(at, body=sent, label=LABEL, path=path, **changes)
    return status, json.loads(told)


def answering(seen: list[Any], answer: Any = ANSWER) -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, body = await read_request(reader)
        seen.append((head, json.loads(body)))
        text = json.dumps(answer).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(text) + text)
        writer.close()

    return serve


async def test_a_name_leads_to_its_service_which_hears_its_own_name_of_it(tmp_path: Path) -> None:
    seen: list[Any] = []
    async with replica(tmp_path, answering(seen)) as one:
        to = route("llm-1", one)
        at = door([named("chat", "llm-1", upstream="Qwen/Qwen3")], {"llm-1": to})
        asked = {"messages": [{"role": "user", "content": "你好 \ud83d"}], "model": "chat", "seed": 2**60}
        assert await call(at, asked) == (200, ANSWER)
        assert await call(at, {"model": "chat"}, "/v1/embeddings") == (200, ANSWER)
    assert [body["model"] for _head, body in seen] == ["Qwen/Qwen3"] * 2
    assert {**seen[0][1], "model": "chat"} == asked
    assert f"post {CHAT} http" in seen[0][0]
    assert "plsv_" not in seen[0][0]
    assert "accept-encoding: identity" in seen[0][0]
    ((which, counts),) = at.relay.counter.take().items()
    assert which[:2] == (KEY_ID, to.service_id)
    assert (counts.requests, counts.tokens_in, counts.tokens_out, counts.untold) == (2, 24, 10, 0)


async def test_another_name_answers_while_no_replica_of_the_first_is_well(tmp_path: Path) -> None:
    seen: list[Any] = []
    names = [named("best", "a", "good"), named("good", "b", "best"), named("alone", "a")]
    async with replica(tmp_path, answering(seen, {"object": "x"})) as one:
        at = door(names, {"a": route("a"), "b": route("b", one)})
        assert (await call(at, {"model": "best"}))[0] == 200
        assert seen[0][1] == {"model": "good"}
        assert at.relay.counter.take().popitem()[1].untold == 1
        status, told = await call(at, {"model": "alone"})
    assert (status, told["error"]["code"]) == (503, "not_ready")


async def test_tokens_that_answers_took_let_the_key_wait_in_all_processes(tmp_path: Path) -> None:
    """Of 10 a minute an answer takes 17: charged afterwards, and no more than what is over has to pass."""
    caller, other = Caller(uuid4(), None, None, frozenset(), 10), Caller(uuid4(), None, None, frozenset(), 40)
    async with replica(tmp_path, answering([])) as one:
        doors = [door([named("a", "x")], {"x": route("x", one)}, each) for each in (caller, caller, other)]
        first, second, third = doors
        try:
            assert (await call(first, {"model": "a"}))[0] == 200
            status, headers, told = await ask(second, body=b'{"model": "a"}', label=LABEL, path=CHAT)
            assert (status, json.loads(told)["error"]["code"]) == (429, "too_many_tokens")
            assert 30 <= int(headers["retry-after"]) <= 42
            assert second.relay.counter.take().popitem()[1].refused == 1
            answers = [(await call(third, {"model": "a"}))[0] for _number in range(4)]
            assert answers == [200, 200, 200, 429], "while less than a minute's worth is used"
        finally:
            for each in doors:
                await each.relay.limits.close()


async def test_what_servers_say_of_tokens_shuts_nobody_out_for_long(settings: LazySettings) -> None:
    caller, limits = Caller(uuid4(), None, None, frozenset(), 1), Limits()
    try:
        for _number in range(9):
            await limits.spend(caller, 10**9)
        assert 0 < await limits.tokens_wait_ms(caller) <= 20 * 60_000
        assert await limits.tokens_wait_ms(Caller(caller.key_id, None, None)) == 0, "without a limit nobody asks"
    finally:
        await limits.close()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    away = Limits()
    await away.spend(caller, 5)
    assert await away.tokens_wait_ms(caller) == 0


async def test_a_key_lists_and_asks_what_it_is_for() -> None:
    names = [named("a", "x"), named("b", "x")]
    at = door(names, {"x": route("x")}, Caller(KEY_ID, None, None, frozenset({"b"})))
    status, told = await call(at, b"", "/v1/models", method="GET")
    assert (status, [each["id"] for each in told["data"]]) == (200, ["b"])
    assert (await call(at, b"", "/v1/models/b", method="GET"))[1]["object"] == "model"
    assert (await call(at, b"", "/v1/models/a", method="GET"))[1]["error"]["code"] == "model_not_found"
    assert (await call(at, {"model": "a"}))[1]["error"]["code"] == "model_not_found"
    assert (await call(at, {"model": "b"}, "/v1/audio/speech"))[1]["error"]["code"] == "unknown_call"


async def test_nobody_is_let_in_without_a_key_of_the_organisation() -> None:
    at = door([], {})
    for key, code in (("", "key_required"), ("sk-other", "key_required")):
        status, told = await call(at, {"model": "x"}, key=key)
        assert (status, told["error"]["code"]) == (401, code)
        assert set(told["error"]) >= {"message", "type", "param", "code"}
    other = addresses.label_of_organisation(uuid4())
    status, _names, told = await ask(at, label=other, path="/v1/models", method="GET")
    assert (status, json.loads(told)["error"]["code"]) == (401, "key_refused")


BODIES = st.one_of(
    st.binary(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["model", "x"]), inner, max_size=2),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
    st.sampled_from([b'{"model": "known", "x": NaN}', b'{"model": "known", "x": 1e999}', b"\xff\xfe{\x00"]),
    st.sampled_from([1, 5000, 100_000]).map(lambda depth: b"[" * depth),
)


@given(BODIES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_is_sent_is_refused_as_clients_understand_it(body: bytes) -> None:
    at = door([named("known", "x")], {})
    status, told = asyncio.run(call(at, body))
    assert status in (400, 404)
    assert set(told["error"]) >= {"message", "type", "param", "code"}
    assert not at.organisations.memory.held


async def test_a_body_for_which_there_is_no_room_is_refused_and_leaves_none() -> None:
    at = door([named("m", "x")], {})
    at.organisations.memory = Shared(1000)
    status, told = await call(at, {"model": "m", "pad": "x" * 600})
    assert (status, told["error"]["code"], at.organisations.memory.free) == (503, "busy", 1000)
    status, told = await call(at, {"model": "m"}, headers={"content-length": str(1 << 40)})
    assert (status, told["error"]["code"]) == (413, "body_too_large")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 400)), max_size=60), st.data())
def test_whoever_holds_nothing_finds_room_whatever_others_hold(
    asked: list[tuple[int, int]], data: st.DataObject
) -> None:
    people, memory = [uuid4() for _ in range(5)], Shared(1000)
    holding: list[tuple[UUID, int]] = []
    for person, size in asked:
        if memory.take(people[person], size):
            holding.append((people[person], size))
        if holding and data.draw(st.booleans()):
            memory.give_back(*holding.pop(data.draw(st.integers(0, len(holding) - 1))))
        assert sum(size for _person, size in holding) == memory.held.total() <= memory.most
    assert memory.free * 2**4 >= memory.most, "each of four leaves half"
    assert memory.take(people[4], memory.free // 2)
    for held in holding:
        memory.give_back(*held)
    assert memory.free == memory.most - memory.held[people[4]]


async def test_pieces_of_a_stream_reach_the_caller_before_the_next_one_is_made(tmp_path: Path) -> None:
    """The program makes a piece only once the one before has arrived."""
    arrived: asyncio.Queue[bytes] = asyncio.Queue()
    made = [b'data: {"n": %d}\n\n' % n for n in range(3)]
    made.append(b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\n\ndata: [DONE]\n\n')

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for piece in made:
            writer.write(piece)
            async with asyncio.timeout(5):
                assert await arrived.get() == piece
        writer.close()

    async with replica(tmp_path, serve) as one:
        at = door([named("chat", "llm")], {"llm": route("llm", one)})
        status, _headers, body = await ask(
            at, body=b'{"model": "chat", "stream": true}', label=LABEL, path=CHAT, hear=arrived.put_nowait
        )
    assert (status, body) == (200, b"".join(made))
    ((_which, counts),) = at.relay.counter.take().items()
    assert (counts.tokens_in, counts.tokens_out, counts.untold) == (3, 4, 0)


def pieces(text: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in itertools.pairwise(ends)]


USAGE = st.fixed_dictionaries({"prompt_tokens": st.integers(0, 10**6), "completion_tokens": st.integers(0, 10**6)})


@given(st.text(max_size=300), USAGE, st.integers(0, 3 * KEPT_BYTES), st.booleans(), st.lists(st.integers(0, 10**6)))
def test_tokens_are_those_of_the_last_usage_however_the_answer_is_cut(
    text: str, usage: dict[str, int], padding: int, is_streamed: bool, cuts: list[int]
) -> None:
    said = {"choices": [{"text": text + 'x "usage": {"prompt_tokens": 1}' + "y" * padding}], "usage": usage, "id": "z"}
    whole = json.dumps(said).encode()
    if is_streamed:
        last = json.dumps({"choices": [], "usage": usage}).encode()
        whole = b'data: {"choices": [{}], "usage": null}\n\ndata: ' + last + b"\n\ndata: [DONE]\n\n"
    tokens = Tokens()
    for piece in pieces(whole, cuts):
        tokens.feed(piece)
    assert tokens.told() == (usage["prompt_tokens"], usage["completion_tokens"])


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_any_answer_can_be_read_along(text: bytes, cuts: list[int]) -> None:
    whole, cut = Tokens(), Tokens()
    whole.feed(text + b'"usage": {')
    for piece in [*pieces(text, cuts), b'"usage": {']:
        cut.feed(piece)
    assert whole.told() == cut.told()


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=12))
def test_names_that_fall_back_in_a_circle_come_to_an_end(pairs: list[tuple[str, str]]) -> None:
    names = {name: named(name, name, fallback) for name, fallback in pairs}
    for name in names:
        turn = [each.name for each in in_turn(names, name)]
        assert turn[0] == name
        assert len(turn) == len(set(turn)) <= 6
