"""A clock that is set, in the place of the database's own, and a database that has it.

Postgres looks up functions along the search path, in which `pg_catalog` comes first unless it is named. In the soak's
database it is named second, after a schema whose `clock_timestamp()`, `statement_timestamp()`,
`transaction_timestamp()` and `now()` read a sequence of microseconds since 1970: no transaction rolls it back, and all
connections share it. What a search path does not reach is changed by hand: defaults of columns were bound when the
tables were made, and functions that set a search path of their own keep it. The keyword CURRENT_TIMESTAMP cannot be
replaced; no trigger uses it, which `install` checks. Python's `timezone.now()` is patched; monotonic clocks measure how
long something took and stay.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from unittest import mock

from django.db import connection
from django.utils import timezone

from apps.common.database_role import APP_ROLE, grant_app_role

PATH = "soak_clock, pg_catalog, public"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_INSTALL = """
CREATE SCHEMA soak_clock;
CREATE SEQUENCE soak_clock.microseconds MINVALUE 0 START 0;
CREATE FUNCTION soak_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT pg_catalog.to_timestamp(0) + pg_catalog.nextval('soak_clock.microseconds') * interval '1 microsecond' $$;
CREATE FUNCTION soak_clock.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.to_timestamp(0) + last_value * interval '1 microsecond' FROM soak_clock.microseconds $$;
CREATE FUNCTION soak_clock.transaction_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT soak_clock.statement_timestamp() $$;
CREATE FUNCTION soak_clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT soak_clock.statement_timestamp() $$;
GRANT USAGE ON SCHEMA soak_clock TO {role};
GRANT USAGE, SELECT, UPDATE ON SEQUENCE soak_clock.microseconds TO {role};
DO $$
DECLARE found record;
BEGIN
    FOR found IN SELECT attrelid::regclass AS here, attname, pg_get_expr(adbin, adrelid) AS said
        FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE pg_get_expr(adbin, adrelid) ~ '(_timestamp|now)\\(\\)'
    LOOP
        EXECUTE format('ALTER TABLE %%s ALTER COLUMN %%I SET DEFAULT %%s', found.here, found.attname,
            regexp_replace(found.said, '(pg_catalog\\.)?(\\w+_timestamp|now)\\(\\)', 'soak_clock.\\2()', 'g'));
    END LOOP;
    FOR found IN SELECT pg_proc.oid::regprocedure AS here FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proconfig::text LIKE '%%search_path%%'
    LOOP
        EXECUTE format('ALTER FUNCTION %%s SET search_path = {path}, pg_temp', found.here);
    END LOOP;
END $$;
"""
_UNREACHED = r"""
SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
AND prosrc ~* '\m(current_timestamp|current_date|current_time|localtimestamp|localtime)\M'
"""


class Clock:
    """What time it is in the soak's database."""

    def now(self) -> datetime:
        """Without moving it."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT last_value FROM soak_clock.microseconds")
            microseconds: int = cursor.fetchone()[0]
            return EPOCH + microseconds * MICROSECOND

    def set(self, at: datetime) -> None:
        """Forward only: a moment gone by leaves it as it is."""
        if at > self.now():
            with connection.cursor() as cursor:
                cursor.execute("SELECT setval('soak_clock.microseconds', %s)", [(at - EPOCH) // MICROSECOND])

    def seconds(self) -> float:
        """Since 1970: for what counts on a machine's clock."""
        return self.now().timestamp()


@contextmanager
def scratch_database(name: str, template: str | None = None) -> Iterator[Clock]:
    """A database of this name with such a clock, which this process then uses as the platform's limited role.

    `template`: a migrated database to copy; without one everything is migrated, which takes a minute.
    """
    own = deepcopy(connection.settings_dict)
    connection.close()
    connection.settings_dict["OPTIONS"].pop("options", None)
    connection.settings_dict["TEST"] = {**own["TEST"], "NAME": name, "TEMPLATE": template}
    try:
        if template is None:
            connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        else:
            _copy(name, template)
        install()
        connection.close()
        connection.settings_dict["OPTIONS"]["options"] = f"-c role={APP_ROLE} -c search_path={PATH.replace(' ', '')}"
        clock = Clock()
        with mock.patch.object(timezone, "now", clock.now):
            yield clock
    finally:
        connection.close()
        connection.settings_dict["OPTIONS"].pop("options", None)  # as the owner
        _drop(name)
        connection.settings_dict.clear()
        connection.settings_dict.update(own)


def install() -> None:
    """Give the connected database the other clock. Raises RuntimeError where a trigger would not look at it."""
    grant_app_role()
    with connection.cursor() as cursor:
        cursor.execute(_UNREACHED)
        unreached = [row[0] for row in cursor.fetchall()]
        if unreached:
            raise RuntimeError(f"these functions read a clock that cannot be replaced: {unreached}")
        cursor.execute(_INSTALL.format(role=APP_ROLE, path=PATH).replace("%%", "%"))


def _copy(name: str, template: str) -> None:
    quoted = connection.ops.quote_name
    _drop(name)
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {quoted(name)} TEMPLATE {quoted(template)}")
    connection.settings_dict["NAME"] = name


def _drop(name: str) -> None:
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {connection.ops.quote_name(name)} WITH (FORCE)")
