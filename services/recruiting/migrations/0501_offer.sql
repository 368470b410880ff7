-- +goose Up
-- The offers to the candidates of applications.
CREATE TABLE offer (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.Offer without the other columns.
    body       bytea       NOT NULL,
    application_id uuid    NOT NULL,
    opportunity_id uuid    NOT NULL,
    -- Whether the offer is neither rejected nor declined nor withdrawn.
    is_open        boolean NOT NULL DEFAULT true,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id)
);
CREATE UNIQUE INDEX offer_changed ON offer (tenant_id, changed);
CREATE UNIQUE INDEX offer_open ON offer (tenant_id, application_id) WHERE is_open;
SELECT isolate_tenants('offer');

-- The actions on offers.
CREATE TABLE offer_action (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.OfferAction without the other columns.
    body       bytea       NOT NULL,
    offer_id   uuid        NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, offer_id) REFERENCES offer (tenant_id, id)
);
CREATE UNIQUE INDEX offer_action_changed ON offer_action (tenant_id, changed);
CREATE INDEX offer_action_offer ON offer_action (tenant_id, offer_id, changed);
SELECT isolate_tenants('offer_action');
