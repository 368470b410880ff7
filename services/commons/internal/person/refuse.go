package person

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// refuseTwins fails all but the first item with the same person number, or for
// the same person.
func refuseTwins(items []*item) {
	numbers, persons := map[string]bool{}, map[int64]bool{}
	for _, it := range good(items) {
		switch {
		case it.old != nil && persons[it.id]:
			it.err = fault.Invalid(CodeCombination, "personIdentity: another element of the request is about the same person.")
		case numbers[it.number()]:
			it.err = notUnique(it.number())
		}
		numbers[it.number()] = true
		if it.old != nil {
			persons[it.id] = true
		}
	}
}

func notUnique(number string) *fault.Error {
	return fault.Invalid(CodeNotUnique, fmt.Sprintf("personInformation.person.personNumber: %q is not unique.", number))
}

// refuseTaken fails items whose person number belongs to somebody else. What
// others store from now on is found when the items are stored.
func (w *writer) refuseTaken(ctx context.Context, items []*item) error {
	tenantID, _ := tenant.From(ctx)
	var numbers []string
	for _, it := range good(items) {
		if it.old == nil || it.old.number() != it.number() {
			numbers = append(numbers, it.number())
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	known, err := taken(ctx, w.pool, tenantID, numbers)
	if err != nil {
		return err
	}
	for _, it := range good(items) {
		if owner, ok := known[it.number()]; ok && owner != it.id {
			it.err = notUnique(it.number())
		}
	}
	return nil
}

// carried is a badge of an item on some days.
type carried struct {
	by     *item
	number string
	days   civil.Range
}

// refuseBadges fails items with a badge that somebody else carries on some of
// the days, in the database or before them in the request.
func (w *writer) refuseBadges(ctx context.Context, items []*item) error {
	tenantID, _ := tenant.From(ctx)
	var badges []carried
	for _, it := range good(items) {
		for _, b := range it.person.GetPersonInformation().GetBadgeAssignments() {
			badges = append(badges, carried{it, b.GetBadgeNumber(), rangeOf(datesOf(b))})
		}
	}
	if len(badges) == 0 {
		return nil
	}
	before := map[string][]carried{}
	for _, b := range badges {
		for _, other := range before[b.number] {
			if other.by != b.by && other.by.err == nil && b.by.err == nil && other.days.Overlaps(b.days) {
				b.by.err = badgeTaken(b.number)
			}
		}
		before[b.number] = append(before[b.number], b)
	}
	var numbers []string
	var persons []int64
	var from, to []time.Time
	for _, b := range badges {
		numbers, persons = append(numbers, b.number), append(persons, b.by.id)
		from, to = append(from, b.days.From.Time()), append(to, b.days.To.Time())
	}
	rows, err := w.pool.Query(ctx, `SELECT (q.at - 1)::int
		FROM unnest($2::text[], $3::bigint[], $4::date[], $5::date[]) WITH ORDINALITY AS q (number, person, from_date, to_date, at)
		WHERE EXISTS (SELECT FROM badge_assignment b
			WHERE b.tenant_id = $1 AND b.badge_number = q.number AND b.person_id <> q.person
			  AND b.from_date < q.to_date AND b.to_date > q.from_date)`,
		tenantID, numbers, persons, from, to)
	if err != nil {
		return err
	}
	var at int
	_, err = pgx.ForEachRow(rows, []any{&at}, func() error {
		if b := badges[at]; b.by.err == nil {
			b.by.err = badgeTaken(b.number)
		}
		return nil
	})
	return err
}

func badgeTaken(number string) *fault.Error {
	return fault.Invalid(CodeBadge, fmt.Sprintf("personInformation.badgeAssignments: somebody else carries the badge %q on some of the days.", number))
}
