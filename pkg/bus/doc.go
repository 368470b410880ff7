// Package bus connects services by events over NATS JetStream.
//
// What is published where is declared in the contracts: a message with the
// option rotaloom.options.v1.event is an event, its subject names its domain,
// and the domain names its stream. A domain's stream is written only by that
// domain's outbox (pkg/outbox), so publishing is not part of this package.
//
// Delivery is at least once and in no promised order. Handlers must therefore
// be idempotent and take the newer of two versions, whichever comes first.
package bus
