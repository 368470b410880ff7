// Package audit records every write in the audit log: one row for each write, committed together
// with it, and rows for other events that a service chooses to record.
//
// A record travels in the context of a request. The first transaction that the request commits
// (pg.InTx) includes the row, in the round trip of the commit. So no write exists without its row,
// and no write waits longer for it.
package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/audit/migrations"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// Migrations returns the table of audit events; every service has it in its own database.
func Migrations() pg.Migrations {
	return pg.Migrations{Table: "audit_version", FS: migrations.FS}
}

// OK is the outcome of an operation that was carried out.
const OK = "ok"

const (
	// maxObjects and maxText bound one event; maxText is in bytes.
	maxObjects = 20
	maxText    = 200
)

// Event is one row. It never holds a token, a password or a request body.
type Event struct {
	Tenant int64
	// At is the time of the event.
	At time.Time
	// User is the name of a user who exists, or "".
	User     string
	PersonID int64
	Client   string
	// Service is the service that made the call, or "".
	Service string
	// Operation is the full name of an operation without the leading slash, or the word for another
	// event.
	Operation string
	// Objects are the ids of the written objects.
	Objects []string
	// RequestID is filled in from the context if it is empty.
	RequestID string
	// Outcome is OK, or the code of the denial.
	Outcome string
	// OnBehalfOf are the persons whose active delegation let the user see the written or read data.
	OnBehalfOf []int64
}

const insert = `INSERT INTO audit_event (tenant_id, occurred_at, user_name, person_id, client_id, service, operation,
	objects, request_id, outcome, on_behalf_of) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

func (e *Event) args() []any {
	objects := e.Objects
	if objects == nil {
		objects = []string{}
	}
	behalf := e.OnBehalfOf
	if behalf == nil {
		behalf = []int64{}
	}
	return []any{
		e.Tenant, e.At, short(e.User), e.PersonID, short(e.Client), e.Service, e.Operation, objects, e.RequestID, e.Outcome, behalf,
	}
}

// Statement returns the SQL that stores the event, for sending in a batch.
func (e Event) Statement(ctx context.Context) (sql string, args []any) {
	if e.RequestID == "" {
		e.RequestID = obs.RequestFrom(ctx).ID
	}
	return insert, e.args()
}

// Write stores the event in its own statement.
func (e Event) Write(ctx context.Context, db pg.Querier) error {
	sql, args := e.Statement(ctx)
	if _, err := db.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("store audit event: %w", err)
	}
	return nil
}

// WriteWith executes a statement and stores the event in one round trip: both or neither.
func (e Event) WriteWith(ctx context.Context, db pg.Querier, sql string, args ...any) error {
	batch := &pgx.Batch{}
	batch.Queue(sql, args...)
	event, values := e.Statement(ctx)
	batch.Queue(event, values...)
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store with audit event: %w", err)
	}
	return nil
}

func short(text string) string {
	if len(text) > maxText {
		// PostgreSQL rejects half a character.
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// record is the event of a request until it is committed. It is the pg.TxHook of the request.
type record struct {
	mu      sync.Mutex
	event   Event
	written bool
	// own is the rule about the caller's own record, or nil.
	own *authn.OwnRecord
}

// errNotChecked means that an operation is faulty: it writes for employees without checking for the
// caller's own record.
var errNotChecked = errors.New("the operation did not check whether it writes to the caller's own record")

// Check rejects a transaction if the operation did not check for the caller's own record.
func (r *record) Check() error {
	if !r.own.Checked() {
		return fmt.Errorf("%s: %w", r.event.Operation, errNotChecked)
	}
	return nil
}

// Statement returns the row, unless a transaction has already stored it.
func (r *record) Statement() (sql string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written {
		return "", nil
	}
	return insert, r.event.args()
}

// Committed marks the row as stored.
func (r *record) Committed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = true
}

type recordKey struct{}

// Begin returns the function by which a chain of interceptors starts recording a call. For calls
// that write, the first committed transaction stores the caller and the operation. Calls that only
// read keep their context.
func Begin(clk clock.Clock) func(context.Context, *policy.Method, *authn.Principal, proto.Message) context.Context {
	return func(ctx context.Context, method *policy.Method, p *authn.Principal, req proto.Message) context.Context {
		return beginAt(ctx, clk.Now, method, p, req)
	}
}

func beginAt(ctx context.Context, now func() time.Time, method *policy.Method, p *authn.Principal, req proto.Message) context.Context {
	if !method.Writes() || p == nil || p.Tenant < 1 {
		return ctx
	}
	r := &record{own: authn.OwnRecordFrom(ctx), event: Event{
		Tenant: p.Tenant, At: now(), User: p.Subject, PersonID: p.PersonID, Client: p.Client, Service: p.Service,
		Operation: method.Name[1:], Objects: requestIDs(req), RequestID: obs.RequestFrom(ctx).ID, Outcome: OK,
	}}
	return pg.WithTxHook(context.WithValue(ctx, recordKey{}, r), r)
}

// Initiator is the user who requested the work that a service does later.
type Initiator struct {
	User      string
	PersonID  int64
	Client    string
	RequestID string
}

// SetInitiator records an initiator as the author of what a call of a service writes. The caller
// decides whether to trust the service's claim.
func SetInitiator(ctx context.Context, who Initiator) {
	r, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event.User, r.event.PersonID, r.event.Client = who.User, who.PersonID, who.Client
	if who.RequestID != "" {
		r.event.RequestID = who.RequestID
	}
}

// Object records the id of an object that the call writes, for the transaction that is not
// committed yet.
func Object(ctx context.Context, id int64) {
	r, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A repeated transaction records its objects again.
	if text := strconv.FormatInt(id, 10); len(r.event.Objects) < maxObjects && !slices.Contains(r.event.Objects, text) {
		r.event.Objects = append(r.event.Objects, text)
	}
}

// OnBehalfOf records that the caller sees the persons of the call through a delegation of
// delegator, for the transaction that is not committed yet.
func OnBehalfOf(ctx context.Context, delegator int64) {
	r, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.event.OnBehalfOf) < maxObjects && !slices.Contains(r.event.OnBehalfOf, delegator) {
		r.event.OnBehalfOf = append(r.event.OnBehalfOf, delegator)
	}
}

// requestIDs returns the ids in the top-level fields of a request: the ids in its path.
func requestIDs(req proto.Message) []string {
	var ids []string
	fields := req.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name := string(field.Name())
		if field.Cardinality() == protoreflect.Repeated || name != "id" && (len(name) < 3 || name[len(name)-3:] != "_id") {
			continue
		}
		switch value := req.ProtoReflect().Get(field); field.Kind() {
		case protoreflect.Int64Kind:
			if value.Int() != 0 {
				ids = append(ids, strconv.FormatInt(value.Int(), 10))
			}
		case protoreflect.StringKind:
			if text := value.String(); text != "" && len(text) <= maxText {
				ids = append(ids, text)
			}
		}
	}
	return ids
}
