package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// Page sizes of lists.
const (
	DefaultPageSize = 100
	MaxPageSize     = 500
)

// Query is the request of a list. All are optional.
type Query interface {
	// GetUpdatedAfter is a date or a moment: the list has later changes only, and deletions too.
	GetUpdatedAfter() string
	// GetAfter and GetBefore are cursors, or ids of records.
	GetAfter() string
	GetBefore() string
	// GetLimit is the largest number of records.
	GetLimit() int32
}

// List returns a page of the records that the filter permits, in the order of their changes, and
// reports the pages around it. A record that changes while a client pages moves to the end of the
// list, so that the client misses no record.
func (t Table[T]) List(ctx context.Context, db pg.Querier, q Query, filter Condition) ([]*Record[T], error) {
	p, err := t.page(ctx, db, q, filter)
	if err != nil {
		return nil, err
	}
	args := arguments(ctx)
	sql := filter.apply(t.query(), args) + p.condition(args)
	list, err := pg.Collect(ctx, db, t.scan, sql, args)
	if err != nil {
		return nil, fmt.Errorf("list of %s: %w", t.What, err)
	}
	more := len(list) > p.size
	list = list[:min(len(list), p.size)]
	if p.before > 0 {
		slices.Reverse(list)
	}
	changes := make([]int64, len(list))
	for i, r := range list {
		changes[i] = r.Changed
	}
	return list, rpc.SetPage(ctx, p.around(changes, more))
}

// All returns all records that the filter permits and that are not deleted. The end is the one of the
// statement: the order, and a lock.
func (t Table[T]) All(ctx context.Context, db pg.Querier, filter Condition, end string) ([]*Record[T], error) {
	args := arguments(ctx)
	list, err := pg.Collect(ctx, db, t.scan, filter.apply(t.query()+" AND NOT r.deleted", args)+" "+end, args)
	if err != nil {
		return nil, fmt.Errorf("list of all %s: %w", t.What, err)
	}
	return list, nil
}

// page is a parsed Query. Times are microseconds since 1970.
type page struct {
	// since is the time of updated_after, or 0.
	since int64
	// after and before are the positions of the cursors, or 0 without them.
	after, before int64
	size          int
	// deleted reports whether the list has deletions.
	deleted bool
}

func (t Table[T]) page(ctx context.Context, db pg.Querier, q Query, filter Condition) (page, error) {
	p := page{size: DefaultPageSize}
	switch limit := int(q.GetLimit()); {
	case limit < 0 || limit > MaxPageSize:
		return page{}, fault.Invalid(CodePageSize, fmt.Sprintf("limit must be between 1 and %d.", MaxPageSize)).WithMembers("limit")
	case limit > 0:
		p.size = limit
	}
	if q.GetAfter() != "" && q.GetBefore() != "" {
		return page{}, fault.Invalid(CodeTwoCursors, "Send either before or after.").WithMembers("before", "after")
	}
	if text := q.GetUpdatedAfter(); text != "" {
		since, err := civil.ParseDateOrInstant(text)
		if err != nil {
			return page{}, err
		}
		p.since, p.deleted = since.UnixMicro(), true
	}
	var err error
	if p.after, err = t.position(ctx, db, "after", q.GetAfter(), filter); err != nil {
		return page{}, err
	}
	p.before, err = t.position(ctx, db, "before", q.GetBefore(), filter)
	return p, err
}

// position returns the time that a cursor stands for: the time in it, or the last change of the
// record with this id.
func (t Table[T]) position(ctx context.Context, db pg.Querier, name, cursor string, filter Condition) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	if changed, ok := ParseCursor(cursor); ok {
		return changed, nil
	}
	unknown := fault.Invalid(CodeCursorUnknown, fmt.Sprintf("%s is neither a cursor nor the id of a %s in this list.", name, t.What)).WithMembers(name)
	id, err := uuid.Parse(cursor)
	if err != nil {
		return 0, unknown
	}
	args := arguments(ctx)
	args["id"] = id.String()
	var changed int64
	err = db.QueryRow(ctx, filter.apply("SELECT r.changed FROM "+t.Name+" r WHERE r.tenant_id = @tenant AND r.id = @id", args), args).Scan(&changed)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, unknown
	}
	if err != nil {
		return 0, fmt.Errorf("read the position of %s: %w", t.What, err)
	}
	return changed, nil
}

// condition returns the end of the statement, from the condition for the page on. One more record
// than the page has shows whether another page follows.
func (p page) condition(args pgx.NamedArgs) string {
	sql := " AND r.changed > @from"
	args["from"], args["rows"] = max(p.since, p.after), p.size+1
	if !p.deleted {
		sql += " AND NOT r.deleted"
	}
	if p.before > 0 {
		args["before"] = p.before
		return sql + " AND r.changed < @before ORDER BY r.changed DESC LIMIT @rows"
	}
	return sql + " ORDER BY r.changed LIMIT @rows"
}

// around returns the pages around one with these times. More reports whether more records follow
// in the direction of the query.
func (p page) around(changes []int64, more bool) rpc.Page {
	// Around an empty page, the position of the cursor itself belongs to the page in the other
	// direction.
	first, last := p.after+1, p.before-1
	if len(changes) > 0 {
		first, last = changes[0], changes[len(changes)-1]
	}
	var out rpc.Page
	if more && p.before > 0 || p.after > 0 {
		out.Prev = Cursor(first)
	}
	if more && p.before == 0 || p.before > 0 {
		out.Next = Cursor(last)
	}
	return out
}
