-- Transfers have no foreign keys to accounts: those were checked at the commit, while the accounts were locked.
-- Instead transfer_apply requires both accounts to exist, and an account is never deleted nor given another identity.
CREATE OR REPLACE FUNCTION billing_account_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an account stays what it is' USING ERRCODE = 'foreign_key_violation',
        CONSTRAINT = 'account_stays';
END $$;

CREATE OR REPLACE TRIGGER billing_account_stays BEFORE DELETE ON billing_account
    FOR EACH ROW EXECUTE FUNCTION billing_account_stays();
CREATE OR REPLACE TRIGGER billing_account_stays_itself BEFORE UPDATE OF id, organisation_id, kind ON billing_account
    FOR EACH ROW WHEN ((OLD.id, OLD.organisation_id, OLD.kind) IS DISTINCT FROM (NEW.id, NEW.organisation_id, NEW.kind))
    EXECUTE FUNCTION billing_account_stays();
