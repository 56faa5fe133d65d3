"""Everything that names a person is either erased with the account, put away, ended or kept for a reason."""

import re

from django.apps import apps

from apps.tenants.models import User
from apps.tenants.personal_data import Fate, declared, erased_rows, links

# Columns without a foreign key that hold a person's id or name.
OF_A_PERSON = re.compile(r"^(user|actor|owner|person|account)_id$|^(actor_label|who)$|_by$|^by$", re.ASCII)
OTHERS = {"workloads.Workload.stop_by"}  # a moment


def columns() -> set[str]:
    """Every column that refers to a person, by "app.Model.column"."""
    found = set()
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.get_fields():
            if not field.concrete:
                continue
            plain = field.related_model is None and OF_A_PERSON.search(field.name)
            if field.related_model is User or plain or field.name in ("made_by", "actor_label"):
                found.add(f"{model._meta.label}.{field.name}")
    return found - OTHERS


def test_the_fate_of_every_column_that_names_a_person_is_declared() -> None:
    assert columns() - set(links()) == set()


def test_nothing_is_declared_that_does_not_exist() -> None:
    assert set(links()) - columns() == set()


def test_each_column_is_declared_once() -> None:
    everything = [name for each in declared() for name in each.links]
    assert len(everything) == len(set(everything))


def test_a_new_table_would_be_noticed() -> None:
    assert {"secrets.Secret.owner", "audit.Entry.actor_id", "billing.Transfer.actor_label"} <= columns()
    assert "tenants.ApiToken.name" not in columns()


def test_what_is_erased_is_no_money_and_no_log() -> None:
    """Append-only tables refuse it, and the books need the rest."""
    kept = {"audit", "clusters", "training"}
    assert not kept & {model._meta.app_label for model, _column in erased_rows()}
    billing = {model.__name__ for model, _column in erased_rows() if model._meta.app_label == "billing"}
    assert billing == {"Export", "Budget"}
    assert links()["billing.Transfer.actor_id"] is Fate.KEPT
