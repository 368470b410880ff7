-- +goose Up
-- The contracts that employees work under.

CREATE TABLE employment_term (
    tenant_id          bigint      NOT NULL,
    id                 bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name               text        NOT NULL,
    persistent_id      text,
    allows_inheritance boolean     NOT NULL,
    -- Increases with every change; the version of the term's events.
    version            bigint      NOT NULL DEFAULT 1,
    -- rotaloom.timekeeping.v1.EmploymentTerm without id.
    body               bytea       NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX employment_term_name ON employment_term (tenant_id, lower(name));
CREATE UNIQUE INDEX employment_term_persistent_id ON employment_term (tenant_id, persistent_id);

SELECT isolate_tenants('employment_term', 'inline_strict');
