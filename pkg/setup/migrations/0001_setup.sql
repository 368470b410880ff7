-- +goose Up

-- References between setup resources. A kind is the name of its table.
CREATE TABLE setup_reference (
    tenant_id   bigint NOT NULL,
    kind        text NOT NULL,
    id          bigint NOT NULL,
    target_kind text NOT NULL,
    target_id   bigint NOT NULL,
    PRIMARY KEY (tenant_id, kind, id, target_kind, target_id)
);
CREATE INDEX setup_reference_target ON setup_reference (tenant_id, target_kind, target_id);
SELECT isolate_tenants('setup_reference');

-- Texts that are unique among the resources of a kind, such as persistent ids.
CREATE TABLE setup_unique (
    tenant_id bigint NOT NULL,
    kind      text NOT NULL,
    property  text NOT NULL,
    value     text NOT NULL,
    id        bigint NOT NULL,
    PRIMARY KEY (tenant_id, kind, property, value)
);
CREATE INDEX setup_unique_resource ON setup_unique (tenant_id, kind, id);
SELECT isolate_tenants('setup_unique');
