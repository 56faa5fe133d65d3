"""What a process knows of a collection of the API, and when it may answer from that."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from apps.workloads.drivers.kubernetes import collection
from apps.workloads.drivers.kubernetes.collection import CollectionView, Expired
from tests.drivers.kit import eventually
from tests.kubernetes.api import Server


def read(found: Any) -> tuple[str, int]:
    return found["metadata"]["name"], found["value"]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def told() -> list[set[str]]:
    return []


@pytest.fixture
def view(server: Server, told: list[set[str]], monkeypatch: pytest.MonkeyPatch) -> Iterator[CollectionView[int]]:
    monkeypatch.setattr(collection, "BACKOFF_S", 0.01)
    monkeypatch.setattr(collection, "MOST_BACKOFF_S", 0.05)
    made = CollectionView(server.fetch, read, lambda keys: told.append(set(keys)))
    yield made
    made.close()


def test_nothing_is_known_before_it_was_listed(server: Server, view: CollectionView[int]) -> None:
    server.put("a", 1)
    assert view.get("a") is None
    assert view.all() is None
    view._list()
    assert view.get("a") == 1
    assert view.all() == {"a": 1}


def test_a_list_takes_all_pages(server: Server, view: CollectionView[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "PAGE", 2)
    for number in range(5):
        server.put(f"pod-{number}", number)
    view._list()
    assert view.all() == {f"pod-{number}": number for number in range(5)}


def test_a_watch_tells_what_changed_and_of_the_first_list_nothing(
    server: Server, view: CollectionView[int], told: list[set[str]]
) -> None:
    server.put("a", 1)
    server.put("b", 1)
    view._list()
    assert told == []
    server.put("a", 2)
    server.put("b", 1)  # written, and the same in all that is kept
    server.put("c", 3)
    server.remove("b")
    view._watch()
    assert view.all() == {"a": 2, "c": 3}
    assert told == [{"a"}, {"c"}, {"b"}]


def test_what_has_not_been_proved_for_too_long_is_no_answer(
    server: Server, view: CollectionView[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put("a", 1)
    view._list()
    monkeypatch.setattr(collection, "FRESH_S", 0.0)
    assert view.get("a") is None
    assert view.all() is None


def test_a_quiet_watch_that_ends_as_agreed_proves_it_fresh(server: Server, view: CollectionView[int]) -> None:
    server.put("a", 1)
    view._list()
    view._proved_at = float("-inf")
    assert not view.is_fresh
    view._watch()
    assert view.get("a") == 1


def test_a_watch_that_breaks_off_proves_nothing(server: Server, view: CollectionView[int]) -> None:
    view._list()
    view._proved_at = float("-inf")
    server.breaks = 1
    with pytest.raises(HTTPError):
        view._watch()
    assert not view.is_fresh


def test_a_server_that_counts_from_an_earlier_version_is_listed_again(
    server: Server, view: CollectionView[int]
) -> None:
    server.put("a", 1)
    view._list()
    view._version = str(server.version)
    with pytest.raises(Expired):
        view._take({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "50"}}})


def test_versions_that_are_no_numbers_are_passed_on_as_they_are(view: CollectionView[int]) -> None:
    view._version = "abc"
    view._take({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "abb"}}})
    assert view._version == "abb"


@pytest.mark.parametrize(("code", "expected"), [(410, Expired), (500, ValueError)])
def test_an_error_in_the_stream_ends_it(view: CollectionView[int], code: int, expected: type[Exception]) -> None:
    with pytest.raises(expected):
        view._take({"type": "ERROR", "object": {"kind": "Status", "code": code, "message": "too old"}})


def test_a_version_that_is_gone_leads_to_a_list(server: Server, view: CollectionView[int]) -> None:
    server.put("a", 1)
    view._list()
    server.put("b", 2)
    server.compacted = server.version
    with pytest.raises(ApiException):
        view._watch()
    view.keep()
    eventually(view.all, lambda found: found == {"a": 1, "b": 2})


def test_it_follows_through_outages_and_a_restored_backup(
    server: Server, view: CollectionView[int], told: list[set[str]]
) -> None:
    server.put("a", 1)
    server.put("b", 1)
    view.keep()
    eventually(lambda: view.get("b"), lambda found: found == 1)
    lists = server.lists
    go_away(server)
    server.put("c", 1)
    server.is_away = False
    eventually(lambda: view.get("c"), lambda found: found == 1)
    go_away(server)
    server.restore(40, {"a": 7})
    server.is_away = False
    eventually(view.all, lambda found: found == {"a": 7})
    assert server.lists == lists + 2
    assert told == [{"c"}, {"a", "b", "c"}]


def go_away(server: Server) -> None:
    """Until somebody has noticed."""
    refused, server.is_away = server.refused, True
    eventually(lambda: server.refused, lambda found: found > refused)


def test_it_ends_where_nobody_asks_and_begins_again(
    server: Server, view: CollectionView[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "IDLE_S", 0.0)
    view.keep()
    thread = view._thread
    assert thread is not None
    thread.join(10)
    assert not thread.is_alive()
    monkeypatch.setattr(collection, "IDLE_S", 60.0)
    server.put("a", 1)
    view.keep()
    eventually(lambda: view.get("a"), lambda found: found == 1)


CHANGES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from("abcd"), st.integers(0, 3)),
    st.tuples(st.just("remove"), st.sampled_from("abcd"), st.just(0)),
    st.tuples(st.sampled_from(["watch", "break", "compact", "restore"]), st.just(""), st.just(0)),
)


@given(st.lists(CHANGES, max_size=40))
def test_after_whatever_happened_it_knows_what_the_server_has(changes: list[tuple[str, str, int]]) -> None:
    server = Server()
    view = CollectionView(server.fetch, read)
    view._list()
    for kind, name, value in changes:
        if kind == "put":
            server.put(name, value)
        elif kind == "remove":
            server.remove(name)
        elif kind == "compact":
            server.compacted = server.version
        elif kind == "restore":
            server.restore(server.version // 2, {"a": 9})
            _go_on(view)
            view._list()  # a server that was restored is another process: its watches broke off
        else:
            server.breaks = int(kind == "break")
            _go_on(view)
    _go_on(view)
    assert view.all() == {name: each["value"] for name, each in server.objects.items()}


def _go_on(view: CollectionView[int]) -> None:
    """As the view's own thread does."""
    try:
        view._watch()
    except (Expired, ApiException, HTTPError):
        view._list()
