-- +goose Up
-- Documents come before applications in the order of the migrations.
ALTER TABLE document ADD CONSTRAINT document_application FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id) NOT VALID;
