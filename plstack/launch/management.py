"""`make manage`: Django's management commands in the environment of the running copy, whose addresses nobody types."""

import os

from plstack.launch.control import running_platform
from plstack.launch.layout import Layout
from plstack.launch.postgres import APP, OWNER, Postgres
from plstack.launch.prepare import Services, process_environment
from plstack.launch.registry import Registry
from plstack.launch.registry import program as registry_program
from plstack.launch.report import Trouble
from plstack.launch.valkey import Valkey


def manage(layout: Layout, arguments: list[str]) -> int:
    """Become `manage.py` with the arguments; a relative path among them is one of the checkout.

    Raises Trouble where the copy does not run: the command would have no database.
    """
    if running_platform(layout) is None:
        raise Trouble(f"no copy of PLStack runs in {layout.home}: start it with make run, and try again")
    postgres = None if layout.database_url else Postgres.from_layout(layout)
    valkey = None if layout.redis_url else Valkey.from_layout(layout)
    registry = None if layout.registry_url or registry_program() is None else Registry.from_layout(layout)
    env = process_environment(layout, services_of(layout, postgres, valkey, registry))
    os.chdir(layout.root)
    os.execve(layout.python, [str(layout.python), "manage.py", *(arguments or ["help"])], env)  # noqa: S606  no shell is wanted


def services_of(
    layout: Layout, postgres: Postgres | None, valkey: Valkey | None, registry: Registry | None
) -> Services:
    """Where the servers of the copy are: its own, or those that the caller's variables name."""
    return Services(
        database_url=postgres.url(APP) if postgres else layout.database_url,
        database_owner_url=postgres.url(OWNER) if postgres else layout.database_owner_url,
        redis_url=valkey.url if valkey else layout.redis_url,
        database_marker=postgres.data / "plstack-prepared" if postgres else None,
        registry_socket=str(registry.socket) if registry else "",
    )
