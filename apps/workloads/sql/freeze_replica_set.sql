-- What a set of replicas was submitted with stays, and one that was asked to end is not wanted again.
CREATE OR REPLACE FUNCTION workloads_freeze_replica_set() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.spec, NEW.organisation_id, NEW.owner_id, NEW.kind, NEW.package_id, NEW.submit_key)
       IS DISTINCT FROM (OLD.spec, OLD.organisation_id, OLD.owner_id, OLD.kind, OLD.package_id, OLD.submit_key) THEN
        RAISE EXCEPTION 'what a set of replicas was submitted with cannot change'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF OLD.desired = 'stopped' AND (NEW.desired, NEW.wanted) IS DISTINCT FROM (OLD.desired, OLD.wanted) THEN
        RAISE EXCEPTION 'a set of replicas that was asked to end is not wanted again'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER workloads_replicaset_frozen BEFORE UPDATE ON workloads_replicaset
    FOR EACH ROW EXECUTE FUNCTION workloads_freeze_replica_set();
