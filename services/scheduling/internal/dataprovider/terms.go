package dataprovider

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

// terms are all employment terms of an employee. Elements can show future ones.
type terms struct {
	memberships []membership
	terminated  []civil.Range
}

type membership struct {
	days     civil.Range
	id       int64
	name     string
	inherits bool
}

func (t *terms) on(day civil.Date) *membership {
	for i := range t.memberships {
		if t.memberships[i].days.Contains(day) {
			return &t.memberships[i]
		}
	}
	return nil
}

// next returns the first term that begins after a day.
func (t *terms) next(day civil.Date) *membership {
	for i := range t.memberships {
		if t.memberships[i].days.From > day {
			return &t.memberships[i]
		}
	}
	return nil
}

// maxTermEmployeeDays is the limit of TK.
const maxTermEmployeeDays = 84_000

func newTermTable(pool *pg.Pool) *dataelement.Table[terms] {
	return &dataelement.Table[terms]{
		Name: "TK", Permission: "timekeeping.employment_term_assignment.read", Kind: datav1.RowKind_ROW_KIND_EMPLOYEE,
		MaxRowDays: maxTermEmployeeDays, Entries: termElements(),
		Load: func(ctx context.Context, ids []int64, _ civil.Range, _ uint64) ([]*terms, error) {
			return loadTerms(ctx, pool, ids)
		},
	}
}

// Each employee is a separate index search, which OFFSET 0 enforces. = ANY would search the whole
// table if there are many employees. This applies to all statements of the providers.
const readMemberships = `
SELECT m.employee_id, m.from_date, m.to_date, t.id, t.name, t.allows_inheritance
FROM unnest($2::bigint[]) AS e (employee)
CROSS JOIN LATERAL (SELECT * FROM membership WHERE tenant_id = $1 AND employee_id = e.employee OFFSET 0) AS m
CROSS JOIN LATERAL (SELECT * FROM employment_term WHERE tenant_id = $1 AND id = m.employment_term_id OFFSET 0) AS t
ORDER BY m.employee_id, m.from_date`

const readTerminations = `
SELECT t.id, r.from_date, r.to_date
FROM unnest($2::bigint[]) AS e (employee)
CROSS JOIN LATERAL (SELECT * FROM employee WHERE tenant_id = $1 AND id = e.employee OFFSET 0) AS t
CROSS JOIN LATERAL unnest(t.terminated_from, t.terminated_to) AS r (from_date, to_date) ORDER BY t.id, 2`

func loadTerms(ctx context.Context, pool *pg.Pool, ids []int64) ([]*terms, error) {
	tenantID := tenant.Of(ctx)
	found := make(map[int64]*terms, len(ids))
	out := make([]*terms, len(ids))
	for i, id := range ids {
		if found[id] == nil {
			found[id] = &terms{}
		}
		out[i] = found[id]
	}
	ids = slices.Sorted(maps.Keys(found)) // without duplicates
	var snapshot pg.Snapshot
	snapshot.Queue(func(rows pgx.Rows) error {
		var id int64
		var m membership
		_, err := pgx.ForEachRow(rows, []any{&id, &m.days.From, &m.days.To, &m.id, &m.name, &m.inherits}, func() error {
			found[id].memberships = append(found[id].memberships, m)
			return nil
		})
		return err
	}, readMemberships, tenantID, ids)
	snapshot.Queue(func(rows pgx.Rows) error {
		var id int64
		var days civil.Range
		_, err := pgx.ForEachRow(rows, []any{&id, &days.From, &days.To}, func() error {
			found[id].terminated = append(found[id].terminated, days)
			return nil
		})
		return err
	}, readTerminations, tenantID, ids)
	if err := snapshot.Read(ctx, pool); err != nil {
		return nil, fmt.Errorf("read employment terms: %w", err)
	}
	return out, nil
}

func termElements() []dataelement.Entry[terms] {
	timekeeping := []string{"EMPLOYEE", "TIMEKEEPING"}
	entry := func(key, label, doc string, kind dataelement.Type, of func(*terms, at) value) dataelement.Entry[terms] {
		return dataelement.Entry[terms]{Key: key, Label: label, Doc: doc, Type: kind, Categories: timekeeping, Series: true, Value: of}
	}
	on := func(key, label, doc string, kind dataelement.Type, of func(*membership) value) dataelement.Entry[terms] {
		return entry(key, label, doc, kind, func(t *terms, at at) value {
			if m := t.on(at.Last()); m != nil {
				return of(m)
			}
			return value{}
		})
	}
	next := func(key, label, doc string, kind dataelement.Type, of func(*membership) value) dataelement.Entry[terms] {
		return entry(key, label, doc, kind, func(t *terms, at at) value {
			if m := t.next(at.Last()); m != nil {
				return of(m)
			}
			return value{}
		})
	}
	return []dataelement.Entry[terms]{
		on("PEOPLE_EMP_TERM", "Employment term", "The employment term on the last day.", dataelement.String,
			func(m *membership) value { return dataelement.Text(m.name) }),
		on("PEOPLE_EMP_TERM_START_DATE", "Employment term since", "The first day of the employment term.", dataelement.Date,
			func(m *membership) value { return dataelement.Day(m.days.From) }),
		on("PEOPLE_EMP_TERM_END_DATE", "Employment term until", "The last day of the employment term, 3000-01-01 for one without end.", dataelement.Date,
			func(m *membership) value { return dataelement.Day(dataelement.LastDay(m.days)) }),
		on("TK_EMP_TERM_ID", "Employment term id", "The id of the employment term.", dataelement.Long,
			func(m *membership) value { return dataelement.Whole(m.id) }),
		on("TK_EMP_TERM_ALLOWS_INHERITANCE", "Term passes patterns on", "Whether the patterns of the employment term apply to its employees.", dataelement.Boolean,
			func(m *membership) value { return dataelement.Bool(m.inherits) }),
		next("TK_NEXT_EMP_TERM", "Next employment term", "The employment term that follows the one of the last day.", dataelement.String,
			func(m *membership) value { return dataelement.Text(m.name) }),
		next("TK_NEXT_EMP_TERM_START_DATE", "Next employment term from", "The first day of the next employment term.", dataelement.Date,
			func(m *membership) value { return dataelement.Day(m.days.From) }),
		entry("TK_EMP_TERM_COUNT", "Employment terms", "How many employment terms there are in the period.", dataelement.Long, func(t *terms, at at) value {
			seen := map[int64]bool{}
			for _, m := range t.memberships {
				if m.days.Overlaps(at.Days) {
					seen[m.id] = true
				}
			}
			return dataelement.Whole(int64(len(seen)))
		}),
		entry("TK_EMP_TERM_DAYS", "Days on a term", "How many days of the period have an employment term.", dataelement.Long, func(t *terms, at at) value {
			var n int
			for _, m := range t.memberships {
				n += m.days.Intersect(at.Days).Days()
			}
			return dataelement.Whole(int64(n))
		}),
		entry("TK_TERMINATED_DAYS", "Terminated days", "On how many days of the period the employment is terminated.", dataelement.Long, func(t *terms, at at) value {
			var n int
			for _, r := range t.terminated {
				n += r.Intersect(at.Days).Days()
			}
			return dataelement.Whole(int64(n))
		}),
		entry("TK_IS_TERMINATED", "Terminated", "Whether the employment is terminated on the last day.", dataelement.Boolean, func(t *terms, at at) value {
			for _, r := range t.terminated {
				if r.Contains(at.Last()) {
					return dataelement.Bool(true)
				}
			}
			return dataelement.Bool(false)
		}),
	}
}
