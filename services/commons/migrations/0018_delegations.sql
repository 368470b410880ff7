-- +goose Up
-- Delegations: persons who see, for a time, the employees whom another person may see.

CREATE TABLE delegation (
    tenant_id    bigint      NOT NULL,
    id           bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    delegator_id bigint      NOT NULL,
    delegate_id  bigint      NOT NULL,
    -- The name of a function access profile, or '' for all permissions of the delegator.
    role         text        NOT NULL,
    -- The last day is included.
    start_date   date        NOT NULL,
    end_date     date        NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT delegation_delegator FOREIGN KEY (tenant_id, delegator_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT delegation_delegate FOREIGN KEY (tenant_id, delegate_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX delegation_delegate ON delegation (tenant_id, delegate_id, end_date);
CREATE INDEX delegation_delegator ON delegation (tenant_id, delegator_id, end_date);

SELECT isolate_tenants('delegation', 'text');
