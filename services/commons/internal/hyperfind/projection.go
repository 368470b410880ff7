package hyperfind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	upsertTerms = `
INSERT INTO employment_term (tenant_id, id, name, deleted, version)
SELECT $1, u.* FROM unnest($2::bigint[], $3::text[], $4::bool[], $5::bigint[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, deleted = excluded.deleted, version = excluded.version
WHERE excluded.version > employment_term.version`

	// The heads lock the persons' lists, in ascending order.
	upsertHeads = `
INSERT INTO membership_head (tenant_id, person_id, version)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[]) AS u
ON CONFLICT (tenant_id, person_id) DO UPDATE SET version = excluded.version
WHERE excluded.version > membership_head.version
RETURNING person_id`

	deleteMemberships = `DELETE FROM membership WHERE tenant_id = $1 AND person_id = ANY($2)`

	insertMemberships = `
INSERT INTO membership (tenant_id, person_id, employment_term_id, from_date, to_date)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[]) AS u`
)

// Consumers are the consumers that keep what timekeeping knows and queries ask
// for: employment terms, and who is on them. Lists of memberships are handed on
// to next, in the same transaction.
func Consumers(pool *pgxpool.Pool, next func(context.Context, pgx.Tx, int64, []*timekeepingv1.PersonMemberships) error) []bus.Consumer {
	return []bus.Consumer{
		{
			Durable: "commons-employment-terms", Stream: "TIMEKEEPING", Subjects: []string{"rotaloom.timekeeping.employment_term.changed"},
			HandleBatch: store(pool, func(e *timekeepingv1.EmploymentTermChanged) []*timekeepingv1.EmploymentTermChanged {
				return []*timekeepingv1.EmploymentTermChanged{e}
			}, applyTerms),
		},
		{
			Durable: "commons-memberships", Stream: "TIMEKEEPING", Subjects: []string{"rotaloom.timekeeping.membership.changed"},
			HandleBatch: store(pool, (*timekeepingv1.MembershipsChanged).GetPersons,
				func(ctx context.Context, tx pgx.Tx, tenantID int64, lists []*timekeepingv1.PersonMemberships) error {
					if err := applyMemberships(ctx, tx, tenantID, lists); err != nil {
						return err
					}
					return next(ctx, tx, tenantID, lists)
				}),
		},
	}
}

// store returns the handler that applies the states in events of one kind, all
// in one transaction.
func store[E proto.Message, S any](
	pool *pgxpool.Pool, statesOf func(E) []S, apply func(context.Context, pgx.Tx, int64, []S) error,
) func(context.Context, []bus.Message) error {
	return func(ctx context.Context, messages []bus.Message) error {
		tenantID, ok := tenant.From(ctx)
		if !ok {
			return errors.New("hyperfind: the context has no tenant")
		}
		var states []S
		for _, m := range messages {
			event, err := bus.Decode[E](m)
			if err != nil {
				return err
			}
			states = append(states, statesOf(event)...)
		}
		return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return apply(ctx, tx, tenantID, states) })
	}
}

// newest returns the states with the largest version of each id, by ascending
// id: a statement may touch a row only once.
func newest[S any](states []S, id, version func(S) int64) []S {
	sorted := slices.SortedFunc(slices.Values(states), func(a, b S) int {
		return cmp.Or(cmp.Compare(id(a), id(b)), cmp.Compare(version(b), version(a)))
	})
	return slices.CompactFunc(sorted, func(a, b S) bool { return id(a) == id(b) })
}

func applyTerms(ctx context.Context, tx pgx.Tx, tenantID int64, states []*timekeepingv1.EmploymentTermChanged) error {
	var ids, versions []int64
	var names []string
	var deleted []bool
	for _, s := range newest(states, (*timekeepingv1.EmploymentTermChanged).GetId, (*timekeepingv1.EmploymentTermChanged).GetVersion) {
		ids, versions = append(ids, s.GetId()), append(versions, s.GetVersion())
		names, deleted = append(names, s.GetName()), append(deleted, s.GetDeleted())
	}
	if _, err := tx.Exec(ctx, upsertTerms, tenantID, ids, names, deleted, versions); err != nil {
		return fmt.Errorf("hyperfind: store employment terms: %w", err)
	}
	return nil
}

// applyMemberships replaces the lists of persons by those that are newer than
// what is known.
func applyMemberships(ctx context.Context, tx pgx.Tx, tenantID int64, lists []*timekeepingv1.PersonMemberships) error {
	lists = newest(lists, (*timekeepingv1.PersonMemberships).GetPersonId, (*timekeepingv1.PersonMemberships).GetVersion)
	ids, versions := make([]int64, len(lists)), make([]int64, len(lists))
	for i, l := range lists {
		ids[i], versions[i] = l.GetPersonId(), l.GetVersion()
	}
	rows, err := tx.Query(ctx, upsertHeads, tenantID, ids, versions)
	if err != nil {
		return fmt.Errorf("hyperfind: store membership versions: %w", err)
	}
	accepted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("hyperfind: store membership versions: %w", err)
	}
	var persons, terms []int64
	var from, to []time.Time
	for _, l := range lists {
		if !slices.Contains(accepted, l.GetPersonId()) {
			continue
		}
		for _, m := range l.GetMemberships() {
			days, err := membershipDays(m)
			if err != nil {
				// No repetition mends it.
				return bus.Permanent(fmt.Errorf("hyperfind: memberships of person %d: %w", l.GetPersonId(), err))
			}
			if days.Empty() {
				continue
			}
			persons, terms = append(persons, l.GetPersonId()), append(terms, m.GetEmploymentTermId())
			from, to = append(from, days.From.Time()), append(to, days.To.Time())
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteMemberships, tenantID, accepted)
	batch.Queue(insertMemberships, tenantID, persons, terms, from, to)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("hyperfind: store memberships: %w", err)
	}
	return nil
}

func membershipDays(m *timekeepingv1.Membership) (civil.Range, error) {
	from, err := civil.ParseDate(m.GetFrom())
	if err != nil {
		return civil.Range{}, err
	}
	to, err := civil.ParseDate(m.GetTo())
	return civil.Range{From: from, To: to}.Clamp(), err
}
