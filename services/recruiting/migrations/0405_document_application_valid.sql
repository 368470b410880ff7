-- +goose Up
ALTER TABLE document VALIDATE CONSTRAINT document_application;
