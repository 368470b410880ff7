-- +goose Up
-- A refresh updates the row of its family. Room on its page keeps the indexes out
-- of that.
ALTER TABLE token_family SET (fillfactor = 70);
