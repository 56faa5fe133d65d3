-- What each charge of a session is counted under never changes.
CREATE OR REPLACE FUNCTION billing_session_tags_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the tags of a session stay' USING ERRCODE = 'check_violation', CONSTRAINT = 'session_tags_stay';
END $$;

CREATE OR REPLACE TRIGGER billing_session_tags_stay BEFORE UPDATE OF tags, tag_keys ON billing_metersession
    FOR EACH ROW WHEN (OLD.tags <> NEW.tags OR OLD.tag_keys <> NEW.tag_keys)
    EXECUTE FUNCTION billing_session_tags_stay();
