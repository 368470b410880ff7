-- +goose Up
-- Sandboxes: tenants whose clocks can be ahead of the real time.
ALTER TABLE tenant
    ADD COLUMN sandbox     boolean  NOT NULL DEFAULT false,
    ADD COLUMN clock_ahead interval NOT NULL DEFAULT '0',
    ADD CONSTRAINT tenant_clock CHECK (clock_ahead = '0' OR sandbox AND clock_ahead > '0') NOT VALID;
COMMENT ON COLUMN tenant.sandbox IS 'whether the tenant has a clock that can be advanced; it never changes';
COMMENT ON COLUMN tenant.clock_ahead IS 'how far the clock of a sandbox is ahead of the real time';

-- A tenant with real data never gets a clock of its own, and a sandbox never gets real data.
-- +goose StatementBegin
CREATE FUNCTION keep_sandbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'whether a tenant is a sandbox cannot change' USING ERRCODE = 'check_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER tenant_keeps_sandbox BEFORE UPDATE OF sandbox ON tenant
    FOR EACH ROW WHEN (OLD.sandbox <> NEW.sandbox) EXECUTE FUNCTION keep_sandbox();
