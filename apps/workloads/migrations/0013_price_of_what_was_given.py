"""Work that takes one of several packages is charged as the one that it got: at prices that its frozen spec names."""

from django.db import migrations

BEGIN = """
CREATE OR REPLACE FUNCTION workloads_freeze_spec() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.spec IS DISTINCT FROM OLD.spec
       OR NEW.organisation_id IS DISTINCT FROM OLD.organisation_id
       OR NEW.owner_id IS DISTINCT FROM OLD.owner_id
       OR {price} THEN
        RAISE EXCEPTION 'what a workload was submitted with cannot change'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
"""
FROZEN = "NEW.price_version_id IS DISTINCT FROM OLD.price_version_id"
# Only on its way out of the queue, and only to a pair that it was submitted with.
GIVEN = """(
           (NEW.price_version_id, NEW.package_id) IS DISTINCT FROM (OLD.price_version_id, OLD.package_id)
           AND NOT (
               OLD.status = 'queued' AND NEW.status = 'placed' AND EXISTS (
                   SELECT 1 FROM jsonb_array_elements(COALESCE(NEW.spec -> 'options', '[]'::jsonb)) AS choice
                   WHERE (choice ->> 'price_version_id')::bigint = NEW.price_version_id
                     AND (choice ->> 'package_id')::bigint = NEW.package_id
               )
           )
       )"""


class Migration(migrations.Migration):
    dependencies = [("workloads", "0012_tags")]

    operations = [migrations.RunSQL(BEGIN.format(price=GIVEN), BEGIN.format(price=FROZEN))]
