"""Keys let in while they live, and the door counts what each of them asked, exactly."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.scoping import acting
from apps.serving import keys, usage
from apps.serving.door import admitting, counting
from apps.serving.keys import KeyDraft, Lifetime
from apps.serving.latency import BOUNDS_MS, BUCKETS, bucket_of, percentile_ms, summed
from apps.serving.models import Service, ServiceKey, Usage
from apps.tenants.tokens import digest_of
from tests.builders import World, actor_of, make_member, platform
from tests.serving.kit import make_service

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def reaching_all(db: None) -> Iterator[None]:
    """The tests look at rows as the platform does."""
    with acting(platform()):
        yield


@pytest.fixture
def service(world: World) -> Service:
    return make_service(world)


def lets_in(service: Service, secret: str) -> bool:
    return admitting.read(service.pk, digest_of(secret)) is not None


class TestLife:
    def test_a_key_opens_its_service_alone_until_it_is_revoked(self, world: World, service: Service) -> None:
        other = make_service(world)
        with acting(world.actor):
            key, secret = keys.create(world.actor, service, KeyDraft("app", Lifetime.NEVER, 60))
            assert secret.startswith(key.prefix)
            assert secret not in str(ServiceKey.objects.values())
            assert lets_in(service, secret)
            assert not lets_in(other, secret)
            assert not lets_in(service, secret + "x")
            keys.revoke(world.actor, service, key.pk)
        assert not lets_in(service, secret)

    def test_the_old_one_goes_on_beside_a_rotated_one_for_the_hours_asked(self, world: World, service: Service) -> None:
        with acting(world.actor):
            key, old = keys.create(world.actor, service, KeyDraft("app"))
            new_key, new = keys.rotate(world.actor, service, key.pk, overlap_h=1)
            assert lets_in(service, old)
            assert lets_in(service, new)
            assert new_key.follows_id == key.pk
            ServiceKey.objects.filter(pk=key.pk).update(expires_at=db_now() - timedelta(seconds=1))
            assert not lets_in(service, old)
            with pytest.raises(Conflict):
                keys.rotate(world.actor, service, key.pk, overlap_h=1)
            with pytest.raises(Invalid):
                keys.rotate(world.actor, service, new_key.pk, overlap_h=999)
            assert lets_in(service, new)

    def test_nobody_else_makes_or_ends_one(self, world: World, service: Service) -> None:
        bob = actor_of(make_member(world.organisation, "bob"), world.organisation)
        with acting(world.actor):
            key, secret = keys.create(world.actor, service, KeyDraft("app"))
        with acting(bob):
            with pytest.raises(NotFound):
                keys.create(bob, service, KeyDraft("mine"))
            with pytest.raises(NotFound):
                keys.revoke(bob, service, key.pk)
        assert lets_in(service, secret)


class TestCounting:
    def test_what_two_processes_counted_adds_up(self, world: World, service: Service) -> None:
        with acting(world.actor):
            key, _secret = keys.create(world.actor, service, KeyDraft("app"))
        moment = db_now().timestamp()
        here, there = counting.Counter(lambda: moment), counting.Counter(lambda: moment)
        for counter in (here, there):
            counter.answered(key.pk, service.pk, 200, 4.0)
            counter.answered(key.pk, service.pk, 502, 90_000.0)
            counter.refused(key.pk, service.pk)
        taken = here.take()
        here.give_back(taken)
        here.answered(key.pk, service.pk, 0, 1e9)
        counting.write(here.take())
        counting.write(there.take())
        counting.write(
            {(uuid4(), service.pk, int(moment) // 60 * 60): counting.Counts(requests=1)}
        )  # a key that is gone
        row = Usage.objects.get()
        assert (row.requests, row.errors, row.refused, sum(row.times)) == (5, 3, 2, 5)
        assert not here.take()
        use = usage.lately(service)
        assert (use.requests, use.errors, use.p50) == (5, 3, 90_000.0)
        key.refresh_from_db()
        assert key.last_used_at is not None


@given(st.lists(st.floats(0, 400_000, allow_nan=False), min_size=1, max_size=60), st.floats(0.01, 1.0))
def test_a_percentile_lies_in_the_bucket_of_the_answer_that_has_it(times: list[float], share: float) -> None:
    rows = [[int(bucket_of(each) == index) for index in range(BUCKETS)] for each in times]
    found = percentile_ms(summed(rows), share)
    assert found is not None
    ranked = sorted(times)[max(1, -(-int(share * len(times) * 10**9) // 10**9)) - 1]
    lower, upper = bucket_of(ranked) - 1, bucket_of(ranked)
    assert (BOUNDS_MS[lower] if lower >= 0 else 0) <= found <= BOUNDS_MS[min(upper, len(BOUNDS_MS) - 1)]
