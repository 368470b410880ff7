-- +goose Up
-- Services with copies request missing states themselves, repeatedly if necessary (pkg/replica).
DROP TABLE retelling;
