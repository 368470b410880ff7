-- +goose Up
-- Records that the Brazilian law on working time requires: time clocks, their groups, the companies of the
-- groups, and the files of the time clocks. Bodies are the messages of rotaloom.timekeeping.v1 without the
-- values in columns and other tables.
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['brazil_device', 'brazil_device_group', 'brazil_company'] LOOP
        EXECUTE format($t$CREATE TABLE %I (
            tenant_id  bigint      NOT NULL,
            id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
            name       text        NOT NULL,
            version    bigint      NOT NULL DEFAULT 1,
            body       bytea       NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (tenant_id, id))$t$, name);
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (tenant_id, lower(name))', name || '_name', name);
    END LOOP;
END $$;
-- +goose StatementEnd

ALTER TABLE brazil_device ADD COLUMN serial_number text;
CREATE UNIQUE INDEX brazil_device_serial_number ON brazil_device (tenant_id, serial_number);

-- The identifier with CAEPF and CNO.
ALTER TABLE brazil_company ADD COLUMN identifier text;
CREATE UNIQUE INDEX brazil_company_identifier ON brazil_company (tenant_id, identifier);

-- A device is in at most one group.
CREATE TABLE brazil_device_member (
    tenant_id bigint NOT NULL,
    device_id bigint NOT NULL,
    group_id  bigint NOT NULL,
    PRIMARY KEY (tenant_id, device_id),
    CONSTRAINT brazil_device_member_device FOREIGN KEY (tenant_id, device_id) REFERENCES brazil_device (tenant_id, id),
    CONSTRAINT brazil_device_member_group FOREIGN KEY (tenant_id, group_id)
        REFERENCES brazil_device_group (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX brazil_device_member_group ON brazil_device_member (tenant_id, group_id);

-- A group belongs to at most one company, and a company has one group.
CREATE TABLE brazil_group_owner (
    tenant_id  bigint NOT NULL,
    group_id   bigint NOT NULL,
    company_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, group_id),
    UNIQUE (tenant_id, company_id),
    CONSTRAINT brazil_group_owner_group FOREIGN KEY (tenant_id, group_id) REFERENCES brazil_device_group (tenant_id, id),
    CONSTRAINT brazil_group_owner_company FOREIGN KEY (tenant_id, company_id)
        REFERENCES brazil_company (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE brazil_afd_file (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    device_id   bigint      NOT NULL,
    -- SHA-256 of the content.
    digest      bytea       NOT NULL,
    content     bytea       NOT NULL,
    -- rotaloom.timekeeping.v1.BrazilAfdFile without id.
    body        bytea       NOT NULL,
    uploaded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, device_id, digest),
    CONSTRAINT brazil_afd_file_device FOREIGN KEY (tenant_id, device_id) REFERENCES brazil_device (tenant_id, id)
);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['brazil_device', 'brazil_device_group', 'brazil_company', 'brazil_device_member', 'brazil_group_owner', 'brazil_afd_file']::regclass[]) AS isolated;
