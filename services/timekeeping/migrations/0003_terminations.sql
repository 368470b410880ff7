-- +goose Up
-- The days of terminated employment of a person, from commons: the person has no term on them. Persons
-- without such days have no row.
CREATE TABLE termination (
    tenant_id bigint         NOT NULL,
    person_id bigint         NOT NULL,
    days      datemultirange NOT NULL,
    PRIMARY KEY (tenant_id, person_id)
);

ALTER TABLE termination ENABLE ROW LEVEL SECURITY;
ALTER TABLE termination FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON termination USING
    (tenant_id = nullif(current_setting('rotaloom.tenant_id', true), '')::bigint);
