-- A version of a model is filled once, when its contents have been copied. Afterwards only its note and
-- its card change, and links
-- to what has been deleted are cleared. Where it came from never changes at all.
CREATE OR REPLACE FUNCTION modelhub_version_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    loose text[] := ARRAY['note', 'card', 'workload_id', 'parent_id'];
    filled text[] := ARRAY['state', 'error', 'manifest_id', 'file_count', 'total_bytes', 'shared_bytes', 'reserved_mib',
        'digest', 'listing_sha256', 'format', 'framework', 'executes_code', 'signature', 'facts', 'ended_at'];
BEGIN
    IF (NEW.workload_id IS NULL OR NEW.workload_id IS NOT DISTINCT FROM OLD.workload_id)
        AND (NEW.parent_id IS NULL OR NEW.parent_id IS NOT DISTINCT FROM OLD.parent_id)
        AND (to_jsonb(NEW) - loose = to_jsonb(OLD) - loose
            OR (OLD.state = 'copying' AND to_jsonb(NEW) - loose - filled = to_jsonb(OLD) - loose - filled)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a version of a model does not change' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE OR REPLACE TRIGGER modelhub_version_immutable BEFORE UPDATE ON modelhub_modelversion
    FOR EACH ROW EXECUTE FUNCTION modelhub_version_immutable();
