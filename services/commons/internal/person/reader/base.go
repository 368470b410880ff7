package reader

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// Base is the short form of a person.
type Base struct {
	ID       int64
	Number   string
	FullName string
	// Active is the status on the day of the request. A person without any employment status
	// counts as active.
	Active bool
}

// ForEachBase calls do for the short form of each person in a criterion, in the order of the
// request, until do fails. It passes nil for unknown persons.
func (r *Reader) ForEachBase(ctx context.Context, where *commonsv1.PersonWhere, do func(store.Key, *Base) error) error {
	day, keys, err := r.requestedPersons(ctx, where)
	if err != nil {
		return err
	}
	found, err := r.VisibleBases(ctx, keys, day)
	if err != nil {
		return err
	}
	passes, err := r.hyperfindFilter(ctx, where.GetHyperFindFilter(), personIDs(found))
	if err != nil {
		return err
	}
	for _, k := range keys {
		b, known := found[k]
		switch {
		case !known:
			err = do(k, nil)
		case passes(b.ID) && (b.Active || !where.GetOnlyActivePerson()):
			err = do(k, &b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func personIDs(found map[store.Key]Base) []int64 {
	var ids []int64
	for _, b := range found {
		ids = append(ids, b.ID)
	}
	return ids
}

// VisibleBases returns the short forms of the persons that keys name. It leaves out persons
// whom the caller may not see.
func (r *Reader) VisibleBases(ctx context.Context, keys []store.Key, day civil.Date) (map[store.Key]Base, error) {
	found, err := r.Bases(ctx, keys, day)
	if err != nil {
		return nil, err
	}
	return found, r.deleteInvisible(ctx, found)
}

// Bases returns the short forms of the persons that keys name.
func (r *Reader) Bases(ctx context.Context, keys []store.Key, day civil.Date) (map[store.Key]Base, error) {
	ids, err := store.FindIDs(ctx, r.pool, keys)
	if err != nil {
		return nil, err
	}
	list, err := pg.Collect(ctx, r.pool, pgx.RowToStructByPos[Base], `SELECT p.id, p.person_number, p.full_name,
			coalesce((SELECT bool_or(s.status = $4 AND s.from_date <= $3 AND s.to_date > $3)
			          FROM employment_status s WHERE s.tenant_id = $1 AND s.person_id = p.id), true)
		FROM person p WHERE p.tenant_id = $1 AND p.id = ANY($2)`,
		tenant.Of(ctx), slices.Collect(maps.Values(ids)), day, record.StatusActive)
	if err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	byID := make(map[int64]Base, len(list))
	for _, b := range list {
		byID[b.ID] = b
	}
	found := make(map[store.Key]Base, len(keys))
	for k, id := range ids {
		if b, ok := byID[id]; ok {
			found[k] = b
		}
	}
	return found, nil
}

// Message returns the person in the form of responses.
func (b Base) Message() *commonsv1.BasePerson {
	return &commonsv1.BasePerson{
		PersonId:     b.ID,
		PersonNumber: b.Number,
		FullName:     b.FullName,
		DisplayName:  fmt.Sprintf("%s (%s)", b.FullName, b.Number),
	}
}
