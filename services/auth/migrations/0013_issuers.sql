-- +goose Up
-- Whether another tenant has an identity provider with an issuer. A transaction belongs to one tenant, and
-- only this function shows it the providers of other tenants.
-- +goose StatementBegin
CREATE FUNCTION issuer_of_another(tenant bigint, wanted text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    before text := current_setting('rotaloom.tenant_id', true);
    found boolean;
BEGIN
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    SELECT EXISTS (SELECT FROM identity_provider WHERE issuer = wanted AND tenant_id <> tenant) INTO found;
    PERFORM set_config('rotaloom.tenant_id', coalesce(before, ''), true);
    RETURN found;
END $$;
-- +goose StatementEnd
