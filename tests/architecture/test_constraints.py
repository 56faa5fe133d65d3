"""What the models promise is in the database: dropping an index by its column may take another one with it."""

import pytest
from django.apps import apps
from django.db import connection


@pytest.mark.django_db
def test_every_constraint_and_index_of_a_model_exists() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT conname FROM pg_constraint UNION SELECT indexname FROM pg_indexes")
        there = {name for (name,) in cursor.fetchall()}
    promised = {
        f"{model._meta.label}: {each.name}"
        for model in apps.get_models()
        if model._meta.managed and not model._meta.proxy
        for each in (*model._meta.constraints, *model._meta.indexes)
        if each.name not in there
    }
    assert promised == set()
