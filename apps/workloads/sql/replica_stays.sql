-- A replica belongs to its set, under its number, for as long as there is a row of it.
CREATE OR REPLACE FUNCTION workloads_replica_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a replica stays what it is' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER workloads_replica_stays BEFORE UPDATE OF replica_set_id, replica_index ON workloads_workload
    FOR EACH ROW WHEN (
        (OLD.replica_set_id, OLD.replica_index) IS DISTINCT FROM (NEW.replica_set_id, NEW.replica_index)
    )
    EXECUTE FUNCTION workloads_replica_stays();
