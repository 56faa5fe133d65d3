"""What is computed together agrees, and is asked once."""

from uuid import UUID, uuid4

import pytest
from django.db import connection

from apps.common.actor import Actor
from apps.common.clock import db_now, once_a_moment, one_moment
from apps.common.scoping import acting
from tests.builders import platform

pytestmark = pytest.mark.django_db


@once_a_moment
def asked(number: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", [number])
        found: int = cursor.fetchone()[0]
        return found


def test_inside_a_moment_the_clock_and_a_question_are_read_once(django_assert_num_queries: object) -> None:
    with one_moment():
        with django_assert_num_queries(3):  # type: ignore[operator]
            assert db_now() == db_now()
            assert [asked(1), asked(1), asked(2), asked(1)] == [1, 1, 2, 1]
        with one_moment(), django_assert_num_queries(0):  # type: ignore[operator]
            assert asked(2) == 2


def test_outside_and_in_the_next_moment_it_is_asked_anew(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(2):  # type: ignore[operator]
        assert asked(1) == asked(1)
    with django_assert_num_queries(2):  # type: ignore[operator]
        for _moment in range(2):
            with one_moment():
                asked(1)


def test_an_answer_is_of_the_scope_that_it_was_read_in(django_assert_num_queries: object) -> None:
    def member(organisation_id: UUID) -> Actor:
        return Actor(user_id=1, label="Alice", organisation_id=organisation_id)

    with one_moment(), django_assert_num_queries(3):  # type: ignore[operator]
        for actor in (platform(), member(uuid4()), member(uuid4())):
            with acting(actor):
                assert asked(1) == asked(1)
