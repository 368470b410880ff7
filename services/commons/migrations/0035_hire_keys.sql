-- +goose Up
-- The hires of other services, and the persons that they created.
CREATE TABLE hire_key (
    tenant_id bigint NOT NULL,
    key       uuid   NOT NULL,
    person_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
SELECT isolate_tenants('hire_key');
