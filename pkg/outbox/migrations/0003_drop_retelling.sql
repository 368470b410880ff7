-- +goose Up
-- What copies lack they ask for themselves, and ask again (pkg/replica).
DROP TABLE retelling;
