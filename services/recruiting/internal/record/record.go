// Package record stores the objects of recruiting that change every day, such as candidates and
// applications: their GUIDs, the order of their changes, the pages of their lists, and their
// deletions.
//
// Such an object has a row in a table with these columns, in addition to its own:
//
//	tenant_id  bigint      NOT NULL,
//	id         uuid        NOT NULL,
//	-- NULL only in the transaction that inserts the row.
//	changed    bigint,
//	created_at timestamptz NOT NULL DEFAULT now(),
//	deleted    boolean     NOT NULL DEFAULT false,
//	body       bytea       NOT NULL,
//	PRIMARY KEY (tenant_id, id)
//
// and a unique index on (tenant_id, changed). SQL conditions name the row "r", and their arguments
// are neither @tenant, @id, @body, @from, @before nor @rows.
package record

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Error codes that all records share.
const (
	// CodePersonUnknown (400): no person has the id. Send the id of an employee.
	CodePersonUnknown = "WRL-50601"
	// CodeCursorUnknown (400): before or after is neither a cursor of a list nor the id of an object in the list. Take it from the header Link.
	CodeCursorUnknown = "WRL-50602"
	// CodeTwoCursors (400): the request has both before and after. Send one of them.
	CodeTwoCursors = "WRL-50603"
	// CodePageSize (400): limit is not between 1 and 500.
	CodePageSize = "WRL-50604"
)

// Table is a table of records. T is the message of the body.
type Table[T proto.Message] struct {
	// Name is the name of the table.
	Name string
	// What names one record in messages: "candidate".
	What string
	// Unknown is the error code for a record that does not exist, or that the caller may not see.
	Unknown string
}

// Record is a stored object.
type Record[T proto.Message] struct {
	// ID is the GUID, in lower case.
	ID string
	// Changed is the time of the last change, in microseconds since 1970.
	Changed int64
	Created time.Time
	// Deleted reports whether the object is deleted or erased. Its body is then empty.
	Deleted bool
	Body    T
}

// Condition restricts the rows of a statement. The zero Condition permits all rows.
type Condition struct {
	// SQL is a condition on the row "r", with arguments in the form @name.
	SQL  string
	Args pgx.NamedArgs
}

func (c Condition) apply(sql string, args pgx.NamedArgs) string {
	for name, value := range c.Args {
		args[name] = value
	}
	if c.SQL == "" {
		return sql
	}
	return sql + " AND (" + c.SQL + ")"
}

// And returns the condition that needs both c and other. The names of their arguments must differ,
// unless the values are equal.
func (c Condition) And(other Condition) Condition {
	if c.SQL == "" {
		return other
	}
	if other.SQL == "" {
		return c
	}
	args := pgx.NamedArgs{}
	sql := other.apply(c.apply("true", args), args)
	return Condition{SQL: sql, Args: args}
}

// Moment returns a time in microseconds since 1970 as RFC 3339 in UTC, with microseconds.
func Moment(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Show returns the body with the properties that follow from the row, as far as the message has
// them: id, created_at, updated_at and is_deleted. It changes the body of r.
func (r *Record[T]) Show() T {
	set := func(name protoreflect.Name, value protoreflect.Value) {
		m := r.Body.ProtoReflect()
		if field := m.Descriptor().Fields().ByName(name); field != nil {
			m.Set(field, value)
		}
	}
	set("id", protoreflect.ValueOfString(r.ID))
	set("updated_at", protoreflect.ValueOfString(Moment(r.Changed)))
	if r.Deleted {
		set("is_deleted", protoreflect.ValueOfBool(true))
		return r.Body
	}
	set("created_at", protoreflect.ValueOfString(Moment(r.Created.UnixMicro())))
	return r.Body
}

func (t Table[T]) scan(row pgx.CollectableRow) (*Record[T], error) {
	var zero T
	r := &Record[T]{Body: zero.ProtoReflect().New().Interface().(T)}
	var body []byte
	if err := row.Scan(&r.ID, &r.Changed, &r.Created, &r.Deleted, &body); err != nil {
		return nil, err
	}
	if err := proto.Unmarshal(body, r.Body); err != nil {
		return nil, fmt.Errorf("decode %s %s: %w", t.What, r.ID, err)
	}
	return r, nil
}

func (t Table[T]) query() string {
	return "SELECT r.id::text, r.changed, r.created_at, r.deleted, r.body FROM " + t.Name + " r WHERE r.tenant_id = @tenant"
}

func arguments(ctx context.Context) pgx.NamedArgs { return pgx.NamedArgs{"tenant": tenant.Of(ctx)} }
