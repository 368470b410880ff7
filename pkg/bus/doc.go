// Package bus connects services by events over NATS JetStream.
//
// The contracts declare which events exist: a message with the option rotaloom.options.v1.event is
// an event, its subject names its domain, and the domain names its stream. Only a domain's own
// outbox (pkg/outbox) writes to its stream, so this package does not publish.
//
// Delivery is at least once and in no guaranteed order. So handlers must be idempotent, and must
// apply the newer of two versions, whichever arrives first.
package bus
