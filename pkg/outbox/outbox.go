// Package outbox publishes events exactly when the transaction that caused them commits. Events are
// first rows in the service's own database; a relay carries them to the broker. While the broker is
// unavailable, they wait.
//
// # The commit wakes the relay
//
// [Append] and [Queue] take the transaction and raise the signal [Appended] on it. Package pg
// announces the signals of a transaction after the commit, once, to the functions that listen on
// its pool. A transaction that is rolled back announces nothing, and neither does a commit that the
// database turned into a rollback. Each attempt of pg.InTx has its own signals. Savepoints pass
// their signals on to the transaction around them when they are released, and lose them when they
// are rolled back. The relay listens on its pool from its creation ([NewRelay]); a relay that
// stands by passes the signal on to the active one over NATS. A process without a relay has no
// listener, and a relay finds its events within a second. Only a transaction of a pg.Pool can raise
// a signal, so that Append in another one is an error: its events would wait. Functions that listen
// run in the goroutine that committed, and must not wait.
//
// Callers do not wake the relay themselves, because a forgotten call delays events and fails no
// test. NOTIFY of PostgreSQL is no alternative: one lock of the server serialises all commits that
// notify, and a pooler of transactions hides it. A signal is a name and no function, so that a
// transaction with a hundred events has one. It is not in the context, because a call with an outer
// context would lose it without an error.
//
// # Dead letters
//
// The package also stores the dead letters of the service's consumers, which are in the same
// database.
package outbox

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the tables of this package. Every service that publishes or consumes events
// applies them next to its own.
func Migrations() (pg.Migrations, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return pg.Migrations{}, fmt.Errorf("outbox: %w", err)
	}
	return pg.Migrations{Table: "outbox_version", FS: files}, nil
}

// MaxEvent is the largest event in bytes, well below the limit of brokers. A larger one could never
// leave the outbox.
const MaxEvent = 512 << 10

const insert = `INSERT INTO outbox (tenant_id, stream, subject, event, payload, request_id, traceparent)
SELECT $1, e.stream, e.subject, e.event, e.payload, $6, $7
FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[]) AS e (stream, subject, event, payload)`

// Appended is the signal of transactions that appended events. The relay listens for it on its
// pool, and publishes the events once they are committed.
const Appended pg.Signal = "outbox: events appended"

// Append writes events of one tenant in one statement. Pass the transaction that writes the data of
// the events: they are published if and only if it commits, and without delay. The request in the
// context becomes the cause of the events.
//
// The tenant must be the tenant of the connection. Messages that are not events, or larger than
// MaxEvent, are errors.
func Append(ctx context.Context, tx pgx.Tx, events ...proto.Message) error {
	if len(events) == 0 {
		return nil
	}
	args, err := arguments(ctx, events)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, insert, args...); err != nil {
		return fmt.Errorf("outbox: append: %w", err)
	}
	return raise(tx)
}

// Queue is Append as part of a batch, which the caller sends to the transaction. The statement has
// no result.
func Queue(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, events ...proto.Message) error {
	if len(events) == 0 {
		return nil
	}
	args, err := arguments(ctx, events)
	if err != nil {
		return err
	}
	batch.Queue(insert, args...)
	return raise(tx)
}

// raise wakes the relay when the transaction commits.
func raise(tx pgx.Tx) error {
	if err := pg.RaiseOnCommit(tx, Appended); err != nil {
		return fmt.Errorf("outbox: append: %w", err)
	}
	return nil
}

func arguments(ctx context.Context, events []proto.Message) ([]any, error) {
	streams, subjects := make([]string, len(events)), make([]string, len(events))
	names, payloads := make([]string, len(events)), make([][]byte, len(events))
	for i, event := range events {
		descriptor := event.ProtoReflect().Descriptor()
		subject, err := bus.EventSubject(descriptor)
		if err != nil {
			return nil, fmt.Errorf("outbox: %w", err)
		}
		payload, err := proto.Marshal(event)
		if err != nil {
			return nil, fmt.Errorf("outbox: encode %s: %w", descriptor.FullName(), err)
		}
		if len(payload) > MaxEvent {
			return nil, fmt.Errorf("outbox: event %s has %d bytes, at most %d are possible", descriptor.FullName(), len(payload), MaxEvent)
		}
		if payload == nil {
			payload = []byte{} // An event without fields must not be NULL.
		}
		streams[i], subjects[i] = bus.StreamName(subject), subject
		names[i], payloads[i] = string(descriptor.FullName()), payload
	}
	request := obs.RequestFrom(ctx)
	return []any{tenant.Of(ctx), streams, subjects, names, payloads, request.ID, request.Traceparent}, nil
}
