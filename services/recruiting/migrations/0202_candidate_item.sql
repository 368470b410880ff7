-- +goose Up
-- The items of the lists of candidates.
CREATE TABLE candidate_item (
    tenant_id    bigint      NOT NULL,
    id           uuid        NOT NULL DEFAULT gen_random_uuid(),
    -- The order in the list.
    number       bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    candidate_id uuid        NOT NULL,
    -- The list, such as work-experience.
    list         text        NOT NULL,
    -- A text that no two items of a list share, or NULL.
    key          text,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    -- The message of the list, without properties that follow from the other columns.
    body         bytea       NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, candidate_id) REFERENCES candidate (tenant_id, id)
);
CREATE INDEX candidate_item_list ON candidate_item (tenant_id, candidate_id, list, number);
CREATE UNIQUE INDEX candidate_item_key ON candidate_item (tenant_id, candidate_id, list, key);
SELECT isolate_tenants('candidate_item');
