// Package reader reads persons for callers, by the identities in their requests. Persons whom
// a caller may not see are not found.
package reader

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// Reader reads persons for callers. It treats persons whom the caller may not see as unknown.
type Reader struct {
	pool *pg.Pool
	// rows decides which persons callers may see.
	rows *rowvisibility.Rules
	// hyperfinds evaluates the stored queries that callers use as filters.
	hyperfinds Hyperfinds
	clock      clock.Clock
}

// New returns a Reader of the pool's database. It returns only persons who are visible under
// the rules.
func New(pool *pg.Pool, rules *rowvisibility.Rules, hyperfinds Hyperfinds, clk clock.Clock) *Reader {
	return &Reader{pool: pool, rows: rules, hyperfinds: hyperfinds, clock: clk}
}

// Visible returns the persons whom the caller may see.
func (r *Reader) Visible(ctx context.Context) (rowvisibility.Set, error) { return r.rows.Visible(ctx) }

// Hyperfinds evaluates stored queries.
type Hyperfinds interface {
	// Among returns the subset of the persons that matches a query on the days of a range.
	Among(ctx context.Context, query *commonv1.Ref, days *commonv1.DateRange, persons []int64) (map[int64]bool, error)
}

// hyperfindFilter returns a function that reports whether a person passes the filter of a
// criterion. Without a filter, all persons pass. The response leaves out the others, as it
// leaves out inactive persons if the request asks for active ones.
func (r *Reader) hyperfindFilter(ctx context.Context, filter *commonsv1.HyperFindFilter, persons []int64) (func(int64) bool, error) {
	if filter.GetHyperfind() == nil {
		return func(int64) bool { return true }, nil
	}
	found, err := r.hyperfinds.Among(ctx, filter.GetHyperfind(), filter.GetDateRange(), persons)
	return func(id int64) bool { return found[id] }, err
}

// Load returns the persons that keys name. It leaves out persons whom the caller may not see.
func (r *Reader) Load(ctx context.Context, keys []store.Key) (map[store.Key]*store.Person, error) {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k store.Key) bool { return k == store.Key{} })
	if len(keys) == 0 {
		return nil, nil
	}
	visible, err := r.rows.Visible(ctx)
	if err != nil {
		return nil, err
	}
	found, err := store.FindIDs(ctx, r.pool, keys)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, id := range found {
		if !visible.Has(id) {
			authn.NoteNotVisible(ctx)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	persons, err := store.Load(ctx, r.pool, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	out := make(map[store.Key]*store.Person, len(keys))
	for k, id := range found {
		if p := persons[id]; p != nil {
			out[k] = p
		}
	}
	return out, nil
}

// Now returns the present instant on the clock of the tenant.
func (r *Reader) Now(ctx context.Context) time.Time { return clock.OfTenant(ctx, r.clock.Now()) }

// Today returns the present day in UTC, limited to the range of days that can be stored.
func (r *Reader) Today(ctx context.Context) civil.Date { return civil.FromTime(r.Now(ctx)).Clamp() }

// requestedPersons returns the persons that a criterion names, and the snapshot date.
func (r *Reader) requestedPersons(ctx context.Context, where *commonsv1.PersonWhere) (day civil.Date, keys []store.Key, err error) {
	if day, err = r.snapshotDate(ctx, where); err != nil {
		return 0, nil, err
	}
	keys, err = parseCriterion(where.GetEmployees(), day)
	return day, keys, err
}

// ForEach calls do for each person in a criterion, in the order of the request, with the
// snapshot date. It passes nil for unknown persons.
func (r *Reader) ForEach(ctx context.Context, where *commonsv1.PersonWhere, do func(civil.Date, store.Key, *store.Person)) error {
	day, keys, err := r.requestedPersons(ctx, where)
	if err != nil {
		return err
	}
	known, err := r.Load(ctx, keys)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(known))
	for _, p := range known {
		ids = append(ids, p.ID)
	}
	passes, err := r.hyperfindFilter(ctx, where.GetHyperFindFilter(), ids)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if p := known[k]; p == nil || passes(p.ID) && (!where.GetOnlyActivePerson() || p.ActiveOn(day)) {
			do(day, k, p)
		}
	}
	return nil
}

// snapshotDate returns the snapshot date of a criterion, today by default.
func (r *Reader) snapshotDate(ctx context.Context, where *commonsv1.PersonWhere) (civil.Date, error) {
	text := where.GetSnapshotDate()
	if long := where.GetSnapshotDateTime(); long != "" {
		text, _, _ = strings.Cut(strings.Replace(long, "T", " ", 1), " ")
	}
	if text == "" {
		return r.Today(ctx), nil
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(rules.CodeSnapshot, fmt.Sprintf("where.snapshotDate: %s.", err))
	}
	return day.Clamp(), nil
}

// CheckVisible returns the error for an unknown person if the caller may not see the person
// with the id.
func (r *Reader) CheckVisible(ctx context.Context, id int64) error {
	visible, err := r.rows.Visible(ctx)
	if err != nil || visible.Has(id) {
		return err
	}
	authn.NoteNotVisible(ctx)
	return NotFound(id)
}

// NotFound returns the error for an unknown id in the path. The reference product returns 400
// for persons, also in this case.
func NotFound(id int64) *fault.Error {
	return fault.Invalid(rules.CodeUnknown, fmt.Sprintf("There is no person with the id %d.", id))
}

// deleteInvisible removes the persons whom the caller may not see.
func (r *Reader) deleteInvisible(ctx context.Context, found map[store.Key]Base) error {
	visible, err := r.rows.Visible(ctx)
	if err != nil {
		return err
	}
	for k, b := range found {
		if !visible.Has(b.ID) {
			authn.NoteNotVisible(ctx)
			delete(found, k)
		}
	}
	return nil
}
