"""Slices of a session tile, inside UTC hours; a closed session stays closed."""

from django.db import migrations

from apps.common.append_only import append_only

SESSION = """
CREATE FUNCTION billing_session_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.closed_at IS NOT NULL AND NEW.closed_at IS DISTINCT FROM OLD.closed_at THEN
        RAISE EXCEPTION 'a closed session stays closed' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'session_stays_closed';
    END IF;
    -- The end that a node reports may lie before the last proof; nothing else takes time back.
    IF NEW.proven_until < OLD.proven_until AND (OLD.closed_at IS NOT NULL OR NEW.closed_at IS NULL) THEN
        RAISE EXCEPTION 'proven time is not taken back' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'session_proof_grows';
    END IF;
    IF OLD.settled AND NOT NEW.settled THEN
        RAISE EXCEPTION 'a settled session stays settled' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'session_stays_settled';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER billing_session_moves_on BEFORE UPDATE ON billing_metersession
    FOR EACH ROW EXECUTE FUNCTION billing_session_moves_on();

ALTER TABLE billing_metersession ADD CONSTRAINT session_and_owner UNIQUE (id, organisation_id);
ALTER TABLE billing_metersession ADD CONSTRAINT session_and_opening UNIQUE (id, opened_at);
"""

# The first slice has no former end; its start is then the session's opening, by a key of its own.
SLICE = """
ALTER TABLE billing_usageslice
    ADD COLUMN opening timestamptz GENERATED ALWAYS AS (CASE WHEN prev_end IS NULL THEN start END) STORED,
    ADD CONSTRAINT slice_of_owner FOREIGN KEY (session_id, organisation_id)
        REFERENCES billing_metersession (id, organisation_id),
    ADD CONSTRAINT slice_starts_at_opening FOREIGN KEY (session_id, opening)
        REFERENCES billing_metersession (id, opened_at),
    ADD CONSTRAINT slice_follows_slice FOREIGN KEY (session_id, prev_end)
        REFERENCES billing_usageslice (session_id, "end"),
    ADD CONSTRAINT slice_within_hour CHECK (
        date_trunc('hour', start AT TIME ZONE 'UTC')
            = date_trunc('hour', ("end" - interval '1 microsecond') AT TIME ZONE 'UTC')
    );
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0003_prices")]

    operations = [
        migrations.RunSQL(
            SESSION,
            """
            DROP FUNCTION billing_session_moves_on CASCADE;
            ALTER TABLE billing_metersession DROP CONSTRAINT session_and_owner CASCADE;
            ALTER TABLE billing_metersession DROP CONSTRAINT session_and_opening CASCADE;
            """,
        ),
        migrations.RunSQL(
            SLICE,
            """
            ALTER TABLE billing_usageslice DROP CONSTRAINT slice_of_owner, DROP CONSTRAINT slice_starts_at_opening,
                DROP CONSTRAINT slice_follows_slice, DROP CONSTRAINT slice_within_hour, DROP COLUMN opening;
            """,
        ),
        append_only("billing_usageslice"),
    ]
