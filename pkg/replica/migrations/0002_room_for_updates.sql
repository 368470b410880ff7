-- +goose Up
-- Every received state updates its head: keep space for updates on the page.
ALTER TABLE replica_head SET (fillfactor = 60);
