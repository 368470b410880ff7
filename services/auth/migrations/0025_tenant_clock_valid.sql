-- +goose Up
ALTER TABLE tenant VALIDATE CONSTRAINT tenant_clock;
