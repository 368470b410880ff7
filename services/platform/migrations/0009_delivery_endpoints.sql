-- +goose NO TRANSACTION
-- +goose Up
-- The waiting deliveries of each webhook and, with 0, of the mail server.
DROP INDEX CONCURRENTLY IF EXISTS notification_delivery_endpoint;
CREATE INDEX CONCURRENTLY notification_delivery_endpoint ON notification_delivery (tenant_id, webhook_id, next_attempt_at) WHERE state = 'PENDING';
