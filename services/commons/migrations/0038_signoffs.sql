-- +goose Up
-- The copy of the last signed-off days of timekeeping. A person without a row has none.
CREATE TABLE timecard_signoff (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    through   date   NOT NULL,
    PRIMARY KEY (tenant_id, person_id),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
SELECT isolate_tenants('timecard_signoff', 'inline_strict');
