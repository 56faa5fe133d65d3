-- What a workload was submitted with stays. Only on its way out of the queue may it take another of the packages, with
-- their prices, that its frozen spec offers: work that takes one of several is charged as the one that it got.
CREATE OR REPLACE FUNCTION workloads_freeze_spec() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.spec IS DISTINCT FROM OLD.spec
       OR NEW.organisation_id IS DISTINCT FROM OLD.organisation_id
       OR NEW.owner_id IS DISTINCT FROM OLD.owner_id
       OR (
           (NEW.price_version_id, NEW.package_id) IS DISTINCT FROM (OLD.price_version_id, OLD.package_id)
           AND NOT (
               OLD.status = 'queued' AND NEW.status = 'placed' AND EXISTS (
                   SELECT 1 FROM jsonb_array_elements(COALESCE(NEW.spec -> 'options', '[]'::jsonb)) AS choice
                   WHERE (choice ->> 'price_version_id')::bigint = NEW.price_version_id
                     AND (choice ->> 'package_id')::bigint = NEW.package_id
               )
           )
       ) THEN
        RAISE EXCEPTION 'what a workload was submitted with cannot change'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER workloads_workload_frozen BEFORE UPDATE ON workloads_workload
    FOR EACH ROW EXECUTE FUNCTION workloads_freeze_spec();
