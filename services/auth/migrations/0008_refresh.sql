-- +goose Up
-- A refresh updates the row of its family. With space on the page, the update does not touch the indexes.
ALTER TABLE token_family SET (fillfactor = 70);
