"""Databases of before the migrations were combined: at their end nothing is run, in between they are refused."""

from collections.abc import Iterable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.common.management.commands.migrate import stopped_between

Key = tuple[str, str]

ENDS = {
    ("billing", "0030_export_covers_all"),
    ("clusters", "0006_disks"),
    ("common", "0002_processheartbeat_processreplacement"),
    ("envs", "0006_tags"),
    ("notifications", "0002_outbox"),
    ("registry", "0003_offered_images"),
    ("storage", "0003_job_progress_at_job_started_at_job_tries"),
    ("tenants", "0006_sign_ins"),
    ("training", "0002_initial"),
    ("workloads", "0016_gone_attempts"),
}


def combined() -> dict[Key, Any]:
    return {key: migration for key, migration in on_disk().items() if migration.replaces}


def on_disk() -> dict[Key, Any]:
    return MigrationLoader(None).disk_migrations


def former() -> set[Key]:
    """What a database at the end of the former migrations has recorded of the apps that had others."""
    replaced = {each for migration in combined().values() for each in migration.replaces}
    return replaced | {(app, "0001_initial") for app, _name in replaced if app != "common"}


def others() -> set[Key]:
    """Migrations of apps that never had others, but for those that build on what was added since."""
    known, graph = combined(), MigrationLoader(None).graph
    apps = {app for app, _name in known}

    def is_as_old(key: Key) -> bool:
        return all(each in known or each[0] not in apps for each in graph.forwards_plan(key))

    return {key for key in on_disk() if key[0] not in apps and is_as_old(key)}


def record(keys: Iterable[Key]) -> None:
    """From now on these migrations and no others count as applied."""
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.all().delete()
    for key in keys:
        recorder.record_applied(*key)


def recorded(keys: Iterable[Key]) -> MigrationExecutor:
    record(keys)
    executor = MigrationExecutor(connection)
    executor.loader.check_consistent_history(connection)
    return executor


def plan(executor: MigrationExecutor) -> set[Key]:
    return {(each.app_label, each.name) for each, _back in executor.migration_plan(executor.loader.graph.leaf_nodes())}


@pytest.mark.django_db
def test_nothing_is_run_at_the_end_of_the_former_migrations() -> None:
    """But what was added since, to be run on every database."""
    executor = recorded(former() | others())
    assert stopped_between(former()) == []
    assert plan(executor) == set(on_disk()) - set(combined()) - others()


@pytest.mark.django_db
@pytest.mark.parametrize("cut", sorted(combined()), ids=".".join)
def test_a_first_installation_continues_where_it_was_cut_off(cut: Key) -> None:
    """After each of the combined migrations; its record is that of the ones it replaces."""
    done = MigrationLoader(None).graph.forwards_plan(cut)
    records = {record for key in done for record in on_disk()[key].replaces or [key]}
    assert stopped_between(records) == []
    assert plan(recorded(records)) == set(on_disk()) - set(done)


@pytest.mark.parametrize("key", sorted(former()), ids=".".join)
def test_a_database_in_between_is_refused(key: Key) -> None:
    """Whichever of the former migrations was its app's last, unless that is the end."""
    app, name = key
    records = {each for each in former() if each[0] != app or each[1] <= name}
    assert stopped_between(records) == ([] if key in ENDS else [f"{app}.{name}"])


@pytest.mark.django_db
def test_the_refusal_says_which_version_to_pass_through_and_runs_nothing() -> None:
    records = former() - {("billing", "0030_export_covers_all"), ("training", "0002_initial")}
    record(records | others())
    before = MigrationRecorder(connection).applied_migrations().keys()
    with pytest.raises(CommandError, match=r"billing\.0029_voucher_requests, training\.0001_initial.*commit b2d94108"):
        call_command("migrate", verbosity=0)
    assert MigrationRecorder(connection).applied_migrations().keys() == before
