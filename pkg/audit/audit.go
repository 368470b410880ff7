// Package audit keeps who did what: one row for every write, committed together
// with it, and rows for what a service finds worth one.
//
// A record travels in the context of a request. The first transaction that the
// request commits (pg.InTx) takes its row along, in the round trip of the commit,
// so no write is there without its row, and none costs one more wait.
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

// Migrations returns the table of audit events, which every service has in its
// own database.
func Migrations() pg.Migrations {
	return pg.Migrations{Table: "audit_version", FS: migrations.FS}
}

// OK is the outcome of what was done.
const OK = "ok"

const (
	// maxObjects and maxText bound what one event holds; a text in bytes.
	maxObjects = 20
	maxText    = 200
)

// Event is one row. It never holds a token, a password or the body of a request.
type Event struct {
	Tenant int64
	// At is when it happened.
	At time.Time
	// User is the name of a user who exists, or "".
	User     string
	PersonID int64
	Client   string
	// Service is the service that made the call, or "".
	Service string
	// Operation is the full name of an operation, without the slash, or a word
	// for what is none.
	Operation string
	// Objects are ids of what was written.
	Objects []string
	// RequestID is filled in from the context when it is empty.
	RequestID string
	// Outcome is OK, or why it was refused.
	Outcome string
	// OnBehalfOf are persons whose running delegation showed the user what was
	// written or looked at.
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

// Statement returns the SQL that stores the event, to be sent with others.
func (e Event) Statement(ctx context.Context) (sql string, args []any) {
	if e.RequestID == "" {
		e.RequestID = obs.RequestFrom(ctx).ID
	}
	return insert, e.args()
}

// Write stores the event by itself.
func (e Event) Write(ctx context.Context, db pg.Querier) error {
	sql, args := e.Statement(ctx)
	if _, err := db.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("store audit event: %w", err)
	}
	return nil
}

// WriteWith executes a statement and stores the event, both or neither, in one
// round trip.
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
		// PostgreSQL takes no half of a character.
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// record is the event of a request until it is committed. It is the pg.TxHook of
// the request.
type record struct {
	mu      sync.Mutex
	event   Event
	written bool
	// own is the rule about the caller's own record, or nil.
	own *authn.OwnRecord
}

// errNotChecked is a fault of the operation, which writes for employees without a look
// at whose record it is.
var errNotChecked = errors.New("the operation did not check whether it writes to the caller's own record")

// Check refuses what was written without a check of whose record it is.
func (r *record) Check() error {
	if !r.own.Checked() {
		return fmt.Errorf("%s: %w", r.event.Operation, errNotChecked)
	}
	return nil
}

// Statement returns the row, unless a transaction took it along already.
func (r *record) Statement() (sql string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written {
		return "", nil
	}
	return insert, r.event.args()
}

// Committed says that the row is there.
func (r *record) Committed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = true
}

type recordKey struct{}

// Begin returns how a chain of interceptors begins calls, and notes when. The context
// of a call that writes has the first transaction that it commits store who called what.
// Calls that only read keep their context.
func Begin(clk clock.Clock) func(context.Context, *policy.Method, *authn.Principal, proto.Message) context.Context {
	return func(ctx context.Context, method *policy.Method, p *authn.Principal, req proto.Message) context.Context {
		return beginAt(ctx, clk.Now, method, p, req)
	}
}

func beginAt(ctx context.Context, now func() time.Time, method *policy.Method, p *authn.Principal, req proto.Message) context.Context {
	if !method.Writes() || p == nil || p.Tenant < 1 {
		return ctx
	}
	r := &record{own: authn.OwnRecordOf(ctx), event: Event{
		Tenant: p.Tenant, At: now(), User: p.Subject, PersonID: p.PersonID, Client: p.Client, Service: p.Service,
		Operation: method.Name[1:], Objects: named(req), RequestID: obs.RequestFrom(ctx).ID, Outcome: OK,
	}}
	return pg.WithTxHook(context.WithValue(ctx, recordKey{}, r), r)
}

// Initiator is who asked for what a service does later, by itself.
type Initiator struct {
	User      string
	PersonID  int64
	Client    string
	RequestID string
}

// For makes the trail name an initiator for what the call of a service writes. Who
// calls decides whether to believe the service.
func For(ctx context.Context, who Initiator) {
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

// Object notes the id of an object that the call writes, for the transaction
// that has not been committed yet.
func Object(ctx context.Context, id int64) {
	r, ok := ctx.Value(recordKey{}).(*record)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A transaction that is repeated notes its objects again.
	if text := strconv.FormatInt(id, 10); len(r.event.Objects) < maxObjects && !slices.Contains(r.event.Objects, text) {
		r.event.Objects = append(r.event.Objects, text)
	}
}

// OnBehalfOf notes that a delegation of a person shows the caller whom the call
// concerns, for the transaction that has not been committed yet.
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

// named returns the ids that a request has beside its body: those of its path.
func named(req proto.Message) []string {
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
