"""Migration operations for tables whose rows may only be added."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION plstack_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: rows are append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def append_only(table: str) -> migrations.RunSQL:
    """Refuse UPDATE, DELETE and TRUNCATE on `table` for every role."""
    return migrations.RunSQL(
        FUNCTION
        + f"""
        CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
            FOR EACH ROW EXECUTE FUNCTION plstack_append_only();
        CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION plstack_append_only();
        """,
        f"DROP TRIGGER {table}_append_only ON {table}; DROP TRIGGER {table}_no_truncate ON {table};",
    )
