-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN login_failure.streak IS 'consecutive failures since the last success';
COMMENT ON COLUMN login_failure.forget_at IS 'when the row expires';
COMMENT ON COLUMN app_user.locked_out IS 'whether one of the periods of account_lockout holds now';
COMMENT ON COLUMN signing_key.retires IS 'whether the key ends as soon as its successor signs';
COMMENT ON COLUMN signing_key.wrapped IS 'whether the private key is encrypted with the wrapping key';
COMMENT ON COLUMN signing_key.use_from IS 'the key signs nothing before this';
COMMENT ON COLUMN client.own_sid IS 'session id in the tokens that the client gets for itself';
