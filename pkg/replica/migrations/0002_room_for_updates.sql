-- +goose Up
-- Every state that comes updates its head: there is room for that on the page.
ALTER TABLE replica_head SET (fillfactor = 60);
