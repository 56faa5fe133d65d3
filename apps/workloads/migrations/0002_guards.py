from django.db import migrations

from apps.common.append_only import append_only

FREEZE = """
CREATE FUNCTION workloads_freeze_spec() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.spec IS DISTINCT FROM OLD.spec
       OR NEW.organisation_id IS DISTINCT FROM OLD.organisation_id
       OR NEW.owner_id IS DISTINCT FROM OLD.owner_id
       OR NEW.price_version_id IS DISTINCT FROM OLD.price_version_id THEN
        RAISE EXCEPTION 'what a workload was submitted with cannot change'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER workloads_workload_frozen BEFORE UPDATE ON workloads_workload
    FOR EACH ROW EXECUTE FUNCTION workloads_freeze_spec();
"""
THAW = "DROP TRIGGER workloads_workload_frozen ON workloads_workload; DROP FUNCTION workloads_freeze_spec();"


class Migration(migrations.Migration):
    dependencies = [("workloads", "0001_initial"), ("audit", "0002_append_only")]

    operations = [append_only("workloads_event"), migrations.RunSQL(FREEZE, THAW)]
