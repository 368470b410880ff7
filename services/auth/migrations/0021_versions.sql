-- +goose Up
-- Versions, for the If-Match of requests. A profile or a client that is deleted and created again has the
-- same name, so a new row begins with a number that was not used for the name.
ALTER TABLE access_profile ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE access_profile ALTER COLUMN version SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
ALTER TABLE client ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE client ALTER COLUMN version SET DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
ALTER TABLE identity_provider ADD COLUMN version bigint NOT NULL DEFAULT 1;
COMMENT ON COLUMN access_profile.version IS 'goes up with every change';
COMMENT ON COLUMN client.version IS 'goes up with every change';
COMMENT ON COLUMN identity_provider.version IS 'goes up with every change';
