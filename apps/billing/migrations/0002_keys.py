"""Keys, checks and storage settings that Django's models cannot say."""

from django.db import migrations

# Slices of a session tile, inside UTC hours. The first slice has no former end; its start is then the session's
# opening, by a key of its own.
METERING = """
ALTER TABLE billing_metersession
    ADD CONSTRAINT session_and_owner UNIQUE (id, organisation_id),
    ADD CONSTRAINT session_and_opening UNIQUE (id, opened_at);

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

# What one run rounds away is what the next begins with; a charge belongs to a slice, a run and one organisation.
RATING = """
ALTER TABLE billing_ratingrun
    ADD COLUMN former bigint GENERATED ALWAYS AS (NULLIF(number - 1, 0)) STORED,
    ADD CONSTRAINT run_and_owner UNIQUE (id, organisation_id),
    ADD CONSTRAINT run_and_remainder UNIQUE (organisation_id, number, carried_out),
    ADD CONSTRAINT run_carries_on FOREIGN KEY (organisation_id, former, carried_in)
        REFERENCES billing_ratingrun (organisation_id, number, carried_out);

ALTER TABLE billing_charge
    ADD CONSTRAINT charge_of_slice FOREIGN KEY (session_id, slice_start)
        REFERENCES billing_usageslice (session_id, start),
    ADD CONSTRAINT charge_of_owner FOREIGN KEY (session_id, organisation_id)
        REFERENCES billing_metersession (id, organisation_id),
    ADD CONSTRAINT charge_of_run FOREIGN KEY (run_id, organisation_id)
        REFERENCES billing_ratingrun (id, organisation_id);
"""

# What a discount takes off is the share of a version that is its organisation's own.
DISCOUNTS = """
ALTER TABLE billing_discount ADD CONSTRAINT discount_and_share UNIQUE (id, organisation_id, off);
ALTER TABLE billing_metersession ADD CONSTRAINT session_of_discount
    FOREIGN KEY (discount_id, organisation_id, discount_off) REFERENCES billing_discount (id, organisation_id, off);
ALTER TABLE billing_prepaidpurchase ADD CONSTRAINT prepaid_purchase_of_discount
    FOREIGN KEY (discount_id, organisation_id, discount_off) REFERENCES billing_discount (id, organisation_id, off);
"""

VOUCHERS = """
ALTER TABLE billing_voucher ADD CONSTRAINT voucher_at_full_hours CHECK (
    date_trunc('hour', valid_from AT TIME ZONE 'UTC') = valid_from AT TIME ZONE 'UTC'
    AND date_trunc('hour', valid_until AT TIME ZONE 'UTC') = valid_until AT TIME ZONE 'UTC'
);
"""

# Balances and a day's sums change all the time: new versions of a row find room beside the old one and touch no index.
ROOM = """
ALTER TABLE billing_account SET (fillfactor = 50);
ALTER TABLE billing_sessionday SET (fillfactor = 70);
ALTER TABLE billing_daysum SET (fillfactor = 70);
"""


class Migration(migrations.Migration):
    replaces = [("billing", "0002_ledger")]  # any but the last: see apps/common/management/commands/migrate.py

    dependencies = [("billing", "0001_initial")]

    operations = [migrations.RunSQL(text) for text in (METERING, RATING, DISCOUNTS, VOUCHERS, ROOM)]
