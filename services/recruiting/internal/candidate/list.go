package candidate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// list is a list of candidates.
type list[T proto.Message] struct {
	// segment is the last part of the path.
	segment string
	// max is the largest number of items.
	max int
	// check checks a new item at a path of the request, which is "" or ends with a dot. It returns a text
	// that no two items of the list share, or "".
	check func(ctx context.Context, tx pgx.Tx, path string, item T) (key string, err error)
	// refs reports whether the items are references to the configuration, and keep their ids.
	refs bool
}

// stored is an item as stored.
type stored struct {
	candidateID, segment, id string
	created, updated         time.Time
	body                     []byte
}

const itemColumns = "candidate_id::text, list, id::text, created_at, updated_at, body"

func scanItem(row pgx.CollectableRow) (s stored, err error) {
	err = row.Scan(&s.candidateID, &s.segment, &s.id, &s.created, &s.updated, &s.body)
	return s, err
}

// items returns the items of a candidate in the order of their creation, or 404.
func (l list[T]) items(ctx context.Context, h *Handler, candidateID string) ([]T, error) {
	parent, err := h.get(ctx, candidateID)
	if err != nil {
		return nil, err
	}
	return l.read(ctx, h.pool, parent.ID)
}

func (l list[T]) read(ctx context.Context, db pg.Querier, candidateID string) ([]T, error) {
	return pg.Collect(ctx, db, l.scan, "SELECT "+itemColumns+" FROM candidate_item WHERE tenant_id = $1 AND candidate_id = $2 AND list = $3 ORDER BY number",
		tenant.Of(ctx), candidateID, l.segment)
}

func (l list[T]) scan(row pgx.CollectableRow) (item T, err error) {
	s, err := scanItem(row)
	if err != nil {
		return item, err
	}
	item = l.empty()
	return item, l.decode(s, item)
}

func (l list[T]) empty() T {
	var zero T
	return zero.ProtoReflect().New().Interface().(T)
}

func (l list[T]) decode(s stored, item proto.Message) error {
	if err := proto.Unmarshal(s.body, item); err != nil {
		return fmt.Errorf("decode an item of the %s of a candidate: %w", l.segment, err)
	}
	if !l.refs {
		setText(item, "id", s.id)
	}
	setText(item, "created_at", record.Moment(s.created.UnixMicro()))
	setText(item, "updated_at", record.Moment(s.updated.UnixMicro()))
	return nil
}

// setText sets a property if the message has it.
func setText(m proto.Message, name protoreflect.Name, text string) {
	if field := m.ProtoReflect().Descriptor().Fields().ByName(name); field != nil {
		m.ProtoReflect().Set(field, protoreflect.ValueOfString(text))
	}
}

// add appends an item to the list of a candidate.
func (l list[T]) add(ctx context.Context, h *Handler, candidateID string, item T) (out T, err error) {
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		parent, err := Candidates.Lock(ctx, tx, candidateID, Visible(ctx, h.visible...))
		if err != nil {
			return err
		}
		if out, err = l.insert(ctx, tx, parent.ID, "", item); err != nil || !l.isProperty() {
			return err
		}
		return Candidates.Touch(ctx, tx, parent.ID)
	})
	return out, err
}

// insert checks and stores an item of a candidate that tx has locked or inserted.
func (l list[T]) insert(ctx context.Context, tx pgx.Tx, candidateID, path string, item T) (out T, err error) {
	if !item.ProtoReflect().IsValid() {
		item = l.empty()
	}
	key, err := l.prepare(ctx, tx, path, item)
	if err != nil {
		return out, err
	}
	body, err := proto.Marshal(item)
	if err != nil {
		return out, fmt.Errorf("encode an item of the %s of a candidate: %w", l.segment, err)
	}
	var count int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM candidate_item WHERE tenant_id = $1 AND candidate_id = $2 AND list = $3`, tenant.Of(ctx), candidateID, l.segment).Scan(&count); err != nil {
		return out, fmt.Errorf("count the %s of a candidate: %w", l.segment, err)
	}
	if count >= l.max {
		return out, fault.Conflict(CodeListFull, fmt.Sprintf("The candidate has %d items in the list %s. More are not possible.", count, l.segment))
	}
	added, err := pg.Collect(ctx, tx, l.scan, "INSERT INTO candidate_item (tenant_id, candidate_id, list, key, body) VALUES ($1, $2, $3, nullif($4, ''), $5) RETURNING "+itemColumns,
		tenant.Of(ctx), candidateID, l.segment, key, body)
	if pgerr.IsUnique(err, "candidate_item_key") {
		return out, fault.Conflict(CodeItemTaken, fmt.Sprintf("The list %s of the candidate has this item already.", l.segment)).WithMembers(strings.TrimSuffix(path, "."))
	}
	if err != nil {
		return out, fmt.Errorf("add to the %s of a candidate: %w", l.segment, err)
	}
	return added[0], nil
}

// prepare clears the properties that the product sets, and checks an item.
func (l list[T]) prepare(ctx context.Context, tx pgx.Tx, path string, item T) (key string, err error) {
	if !l.refs {
		setText(item, "id", "")
	}
	setText(item, "created_at", "")
	setText(item, "updated_at", "")
	return l.check(ctx, tx, path, item)
}

// item returns one item of a candidate, or 404.
func (l list[T]) item(ctx context.Context, db pg.Querier, candidateID, id string) (item T, err error) {
	return l.queryItem(ctx, db, "SELECT "+itemColumns+" FROM candidate_item WHERE tenant_id = $1 AND candidate_id = $2 AND list = $3 AND id = $4", candidateID, id)
}

// replace replaces an item of a candidate.
func (l list[T]) replace(ctx context.Context, h *Handler, candidateID, id string, item T) (out T, err error) {
	if !item.ProtoReflect().IsValid() {
		item = l.empty()
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		parent, err := Candidates.Lock(ctx, tx, candidateID, Visible(ctx, h.visible...))
		if err != nil {
			return err
		}
		if _, err := l.prepare(ctx, tx, "", item); err != nil {
			return err
		}
		body, err := proto.Marshal(item)
		if err != nil {
			return fmt.Errorf("encode an item of the %s of a candidate: %w", l.segment, err)
		}
		out, err = l.queryItem(ctx, tx, "UPDATE candidate_item SET body = $5, updated_at = clock_timestamp() WHERE tenant_id = $1 AND candidate_id = $2 AND list = $3 AND id = $4 RETURNING "+itemColumns, parent.ID, id, body)
		return err
	})
	return out, err
}

// queryItem runs a statement that returns one item of a candidate.
func (l list[T]) queryItem(ctx context.Context, db pg.Querier, sql, candidateID, id string, more ...any) (item T, err error) {
	guid, err := uuid.Parse(id)
	if err != nil {
		return item, unknownItem(l.segment)
	}
	found, err := pg.Collect(ctx, db, l.scan, sql, append([]any{tenant.Of(ctx), candidateID, l.segment, guid}, more...)...)
	switch {
	case err != nil:
		return item, fmt.Errorf("find an item of the %s of a candidate: %w", l.segment, err)
	case len(found) == 0:
		return item, unknownItem(l.segment)
	}
	return found[0], nil
}

func unknownItem(segment string) error {
	return fault.NotFound(CodeItemUnknown, fmt.Sprintf("The list %s of the candidate has no item with this id.", segment))
}

// field returns the property of candidates that has the list, or nil.
func (l list[T]) field() protoreflect.FieldDescriptor {
	name := strings.ReplaceAll(l.segment, "-", "_")
	return (*candidate)(nil).ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
}

// isProperty reports whether candidates have the list as a property.
func (l list[T]) isProperty() bool { return l.field() != nil }

// insertAll stores the items of a new candidate, and adds their faults to the found ones.
func (l list[T]) insertAll(ctx context.Context, tx pgx.Tx, candidateID string, items protoreflect.List, found *fault.List) {
	for i := range items.Len() {
		path := fmt.Sprintf("%s[%d].", l.field().Name(), i)
		if _, err := l.insert(ctx, tx, candidateID, path, items.Get(i).Message().Interface().(T)); !found.Add(err) {
			return
		}
	}
}
