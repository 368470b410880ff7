-- +goose Up
-- The days of terminated employment of a person, from commons: the person has no term on them. Persons
-- without such days have no row.
CREATE TABLE termination (
    tenant_id bigint         NOT NULL,
    person_id bigint         NOT NULL,
    days      datemultirange NOT NULL,
    PRIMARY KEY (tenant_id, person_id)
);

SELECT isolate_tenants('termination', 'inline_strict');
