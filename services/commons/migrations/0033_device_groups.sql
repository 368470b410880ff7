-- +goose Up
-- The copy of the device groups of timekeeping, and the persons of each group.

CREATE TABLE device_group (
    tenant_id bigint  NOT NULL,
    id        bigint  NOT NULL,
    -- Empty if the group is deleted.
    name      text    NOT NULL,
    -- A column, because row-level security prevents the use of an index on an expression.
    name_key  text    NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    deleted   boolean NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX device_group_name_key ON device_group (tenant_id, name_key) WHERE NOT deleted;

-- The groups of persons whose device_group_name names one. When a group is renamed, its persons follow.
CREATE TABLE device_group_member (
    tenant_id       bigint NOT NULL,
    person_id       bigint NOT NULL,
    device_group_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, person_id),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX device_group_member_group ON device_group_member (tenant_id, device_group_id, person_id);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['device_group', 'device_group_member']::regclass[]) AS isolated;
