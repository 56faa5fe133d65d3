"""Django's `migrate`, which first refuses a database from which this version cannot continue.

The migrations of before the first release were combined: each `0001_initial`, with its followers, `replaces` them. A
database that has all of them is up to date, and nothing is run. One that has some would run neither the old migrations,
which are gone, nor the new, whose tables are there.

Where an app has several combined migrations, the first replaces the last of the former ones: a first installation that
was cut off after it can be told from a database of before that is not at the end, and continues.
"""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_WITH_SINGLE_STEPS = "b2d94108"


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        applied = set(MigrationRecorder(connections[options["database"]]).applied_migrations())
        if between := stopped_between(applied):
            raise CommandError(
                f"This version cannot continue from where the database is ({', '.join(between)}): it combines those"
                f" migrations with later ones. Migrate with commit {LAST_WITH_SINGLE_STEPS} first, then with this"
                " version. Nothing has been changed."
            )
        super().handle(*args, **options)


def stopped_between(applied: set[tuple[str, str]]) -> list[str]:
    """The last applied migration of each app that has some of the replaced ones, but not the last of them."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    former: dict[str, set[str]] = {}
    for (app, name), migration in loader.disk_migrations.items():
        if migration.replaces:
            former.setdefault(app, set()).update(replaced for _app, replaced in migration.replaces)
            if name == "0001_initial":
                former[app].add(name)  # the first of the former ones had the same name
    found = {app: sorted(name for name in names if (app, name) in applied) for app, names in sorted(former.items())}
    return [f"{app}.{names[-1]}" for app, names in found.items() if names and names[-1] != max(former[app])]
