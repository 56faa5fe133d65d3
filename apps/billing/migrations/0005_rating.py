"""What one run rounds away is what the next begins with; a charge belongs to a slice, a run and one organisation."""

from django.db import migrations

from apps.common.append_only import append_only

RUN = """
ALTER TABLE billing_ratingrun
    ADD COLUMN former bigint GENERATED ALWAYS AS (NULLIF(number - 1, 0)) STORED,
    ADD CONSTRAINT run_and_owner UNIQUE (id, organisation_id),
    ADD CONSTRAINT run_and_remainder UNIQUE (organisation_id, number, carried_out),
    ADD CONSTRAINT run_carries_on FOREIGN KEY (organisation_id, former, carried_in)
        REFERENCES billing_ratingrun (organisation_id, number, carried_out);
"""

CHARGE = """
ALTER TABLE billing_charge
    ADD CONSTRAINT charge_of_slice FOREIGN KEY (session_id, slice_start)
        REFERENCES billing_usageslice (session_id, start),
    ADD CONSTRAINT charge_of_owner FOREIGN KEY (session_id, organisation_id)
        REFERENCES billing_metersession (id, organisation_id),
    ADD CONSTRAINT charge_of_run FOREIGN KEY (run_id, organisation_id)
        REFERENCES billing_ratingrun (id, organisation_id);
"""


class Migration(migrations.Migration):
    dependencies = [("billing", "0004_metering")]

    operations = [
        migrations.RunSQL(
            RUN,
            """
            ALTER TABLE billing_ratingrun DROP CONSTRAINT run_carries_on, DROP CONSTRAINT run_and_remainder,
                DROP CONSTRAINT run_and_owner CASCADE, DROP COLUMN former;
            """,
        ),
        migrations.RunSQL(
            CHARGE,
            """
            ALTER TABLE billing_charge DROP CONSTRAINT charge_of_slice, DROP CONSTRAINT charge_of_owner,
                DROP CONSTRAINT IF EXISTS charge_of_run;
            """,
        ),
        append_only("billing_ratingrun"),
        append_only("billing_charge"),
    ]
