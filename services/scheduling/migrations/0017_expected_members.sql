-- +goose Up
-- The numbers of employees on terms in the service that owns the memberships, if they are larger than here.
-- The propagation is planned when that many employees have arrived.
ALTER TABLE propagation
    ADD COLUMN expected_term_ids bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN expected_members  bigint[] NOT NULL DEFAULT '{}';

-- The numbers of employees of terms that did not arrive within the waiting time. Later propagations do not
-- wait for them.
CREATE TABLE membership_shortage (
    tenant_id          bigint      NOT NULL,
    employment_term_id bigint      NOT NULL,
    members            bigint      NOT NULL,
    noted_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, employment_term_id)
);
SELECT isolate_tenants('membership_shortage', 'subselect_strict');
