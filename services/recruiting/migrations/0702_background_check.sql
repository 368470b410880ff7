-- +goose Up
-- The background checks of candidates.
CREATE TABLE background_check (
    tenant_id      bigint      NOT NULL,
    id             uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed        bigint,
    created_at     timestamptz NOT NULL DEFAULT now(),
    deleted        boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.BackgroundCheck without the other columns.
    body           bytea       NOT NULL,
    number         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    candidate_id   uuid        NOT NULL,
    application_id uuid        NOT NULL,
    -- The number of the vendor in lower case.
    order_number   text        NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, candidate_id) REFERENCES candidate (tenant_id, id),
    FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id)
);
CREATE UNIQUE INDEX background_check_changed ON background_check (tenant_id, changed);
CREATE UNIQUE INDEX background_check_order ON background_check (tenant_id, application_id, order_number);
CREATE INDEX background_check_candidate ON background_check (tenant_id, candidate_id, number);
SELECT isolate_tenants('background_check');

-- The requests to vendors: orders, and results of background checks.
CREATE TABLE background_check_request (
    tenant_id           bigint      NOT NULL,
    id                  uuid        NOT NULL,
    changed             bigint,
    created_at          timestamptz NOT NULL DEFAULT now(),
    deleted             boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.BackgroundCheckRequest without the other columns.
    body                bytea       NOT NULL,
    application_id      uuid        NOT NULL,
    opportunity_id      uuid        NOT NULL,
    -- NULL for the request of an order.
    background_check_id uuid,
    -- Whether the vendor has still to answer.
    pending             boolean     NOT NULL DEFAULT true,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id),
    FOREIGN KEY (tenant_id, opportunity_id) REFERENCES opportunity (tenant_id, id),
    FOREIGN KEY (tenant_id, background_check_id) REFERENCES background_check (tenant_id, id)
);
CREATE UNIQUE INDEX background_check_request_changed ON background_check_request (tenant_id, changed);
CREATE INDEX background_check_request_pending ON background_check_request (tenant_id, (background_check_id IS NULL), changed) WHERE pending;
CREATE UNIQUE INDEX background_check_request_order ON background_check_request (tenant_id, application_id) WHERE pending AND background_check_id IS NULL;
CREATE UNIQUE INDEX background_check_request_results ON background_check_request (tenant_id, background_check_id);
SELECT isolate_tenants('background_check_request');
