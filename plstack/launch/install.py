"""Prepare parts of the site, inside the environment: `python -m plstack.launch.install [messages] [static] [database]`.

One process does all parts, because loading Django costs more than most of them.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import django
from django.conf import settings
from django.core.management import CommandError, call_command, get_commands
from django.db import DatabaseError, connection

from plstack.launch.messages import compile_messages
from plstack.settings import env


def prepare_messages() -> None:
    compile_messages(settings.BASE_DIR / "locale")


def prepare_static() -> None:
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)


def prepare_database() -> None:
    """Migrate as the owner of the tables, then add the first data as the limited role that the processes use."""
    with as_owner():
        call_command("migrate", interactive=False, verbosity=1)
        call_command("createcachetable")
        call_command("grant_app_role")
    if "first_data" in get_commands():
        call_command("first_data")


@contextmanager
def as_owner() -> Iterator[None]:
    """Connect as the database's owner inside the block."""
    limited = dict(connection.settings_dict)
    connection.settings_dict.update(env.database("DATABASE_OWNER_URL"))
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(limited)


PARTS = {"messages": prepare_messages, "static": prepare_static, "database": prepare_database}


def main(names: list[str]) -> int:
    django.setup()
    for name in names:
        try:
            PARTS[name]()
        except (CommandError, DatabaseError, OSError) as error:
            print(f"{name}: {' '.join(str(error).split())}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
