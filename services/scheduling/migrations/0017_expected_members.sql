-- +goose Up
-- How many employees terms have for the service that owns who is on them, where
-- more than are known here: the propagation is planned when as many are.
ALTER TABLE propagation
    ADD COLUMN expected_term_ids bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN expected_members  bigint[] NOT NULL DEFAULT '{}';

-- How many employees of a term did not come although they were waited for. Nobody
-- waits for them again.
CREATE TABLE membership_shortage (
    tenant_id          bigint      NOT NULL,
    employment_term_id bigint      NOT NULL,
    members            bigint      NOT NULL,
    noted_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, employment_term_id)
);
ALTER TABLE membership_shortage ENABLE ROW LEVEL SECURITY;
ALTER TABLE membership_shortage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON membership_shortage USING
    (tenant_id = (SELECT nullif(current_setting('rotaloom.tenant_id', true), '')::bigint));
