package writer

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// refuseDuplicates fails all items with the same person number, or for the same person,
// except the first.
func refuseDuplicates(items []*store.Item) {
	numbers, persons := map[string]bool{}, map[int64]bool{}
	for _, it := range store.Valid(items) {
		switch {
		case it.Old != nil && persons[it.ID]:
			it.Err = fault.Invalid(rules.CodeCombination, "personIdentity: another element of the request is about the same person.")
		case numbers[names.Key(it.Number())]:
			it.Err = notUnique(it.Number())
		}
		numbers[names.Key(it.Number())] = true
		if it.Old != nil {
			persons[it.ID] = true
		}
	}
}

func notUnique(number string) *fault.Error {
	return fault.Invalid(rules.CodeNotUnique, fmt.Sprintf("personInformation.person.personNumber: %q is not unique.", number))
}

// refuseTaken fails items whose person number belongs to another person, unless the request gives that
// person another number. Numbers that other requests store later are found when the items are stored.
func (w *Writer) refuseTaken(ctx context.Context, items []*store.Item) error {
	var numbers []string
	for _, it := range store.Valid(items) {
		if it.Old == nil || it.Old.Number() != it.Number() {
			numbers = append(numbers, it.Number())
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	known, err := store.PersonNumberOwners(ctx, w.pool, numbers)
	if err != nil {
		return err
	}
	renamed := map[int64]bool{}
	for _, it := range store.Valid(items) {
		renamed[it.ID] = it.Old != nil && names.Key(it.Old.Number()) != names.Key(it.Number())
	}
	// A person whose item fails keeps the number, so that another item may fail, too.
	for again := true; again; {
		again = false
		for _, it := range store.Valid(items) {
			if owner, ok := known[it.Number()]; ok && owner != it.ID && !renamed[owner] {
				it.Err, again = notUnique(it.Number()), true
				delete(renamed, it.ID)
			}
		}
	}
	return nil
}

// badgeUse is the use of a badge by an item on some days.
type badgeUse struct {
	item   *store.Item
	number string
	days   civil.Range
}

// refuseBadges fails items with a badge that another person carries on some of the days, in
// the database or in an earlier item of the request.
func (w *Writer) refuseBadges(ctx context.Context, items []*store.Item) error {
	tenantID := tenant.Of(ctx)
	var badges []badgeUse
	for _, it := range store.Valid(items) {
		for _, b := range it.Message.GetPersonInformation().GetBadgeAssignments() {
			badges = append(badges, badgeUse{it, b.GetBadgeNumber(), record.CheckedRange(record.EffectiveDates(b))})
		}
	}
	if len(badges) == 0 {
		return nil
	}
	before := map[string][]badgeUse{}
	for _, b := range badges {
		for _, other := range before[b.number] {
			if other.item != b.item && other.item.Err == nil && b.item.Err == nil && other.days.Overlaps(b.days) {
				b.item.Err = badgeTaken(b.number)
			}
		}
		before[b.number] = append(before[b.number], b)
	}
	type row struct {
		Number   string
		Person   int64
		From, To civil.Date
	}
	// The badges of persons of the request are compared above, as they will be.
	var changed []int64
	for _, it := range store.Valid(items) {
		changed = append(changed, it.ID)
	}
	var rows []row
	for _, b := range badges {
		rows = append(rows, row{b.number, b.item.ID, b.days.From, b.days.To})
	}
	var at int
	err := pg.ForEach(ctx, w.pool, []any{&at}, func() error {
		if b := badges[at]; b.item.Err == nil {
			b.item.Err = badgeTaken(b.number)
		}
		return nil
	}, `SELECT (q.at - 1)::int
		FROM unnest($2::text[], $3::bigint[], $4::date[], $5::date[]) WITH ORDINALITY AS q (number, person, from_date, to_date, at)
		WHERE EXISTS (SELECT FROM badge_assignment b
			WHERE b.tenant_id = $1 AND b.badge_number = q.number AND b.person_id <> q.person AND b.person_id <> ALL ($6)
			  AND b.from_date < q.to_date AND b.to_date > q.from_date)`,
		append(pg.Columns(rows, tenantID), changed)...)
	return err
}

func badgeTaken(number string) *fault.Error {
	return fault.Invalid(rules.CodeBadge, fmt.Sprintf("personInformation.badgeAssignments: another person carries the badge %q on some of the days.", number))
}
