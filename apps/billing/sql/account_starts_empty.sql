-- Balances and held sums follow transfers and holds only: a new account has neither.
CREATE OR REPLACE FUNCTION billing_account_starts_empty() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.balance_fen <> 0 OR NEW.held_fen <> 0 THEN
        RAISE EXCEPTION 'an account starts empty' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'account_starts_empty';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER billing_account_starts_empty BEFORE INSERT ON billing_account
    FOR EACH ROW EXECUTE FUNCTION billing_account_starts_empty();
