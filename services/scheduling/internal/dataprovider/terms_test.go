package dataprovider

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// Every element of the employment terms of an employee, and of one without any.
func TestEveryElementOfTerms(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	env.Exec(t, schedtest.InsertTerm, 5, "First", false)
	env.Exec(t, schedtest.InsertTerm, 6, "Second", true)
	env.Exec(t, schedtest.InsertTerm, 7, "Third", true)
	env.Exec(t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date) VALUES
		(1, 1, 5, '2025-01-01', '2026-03-03'), (1, 1, 6, '2026-03-04', '2026-04-01'), (1, 1, 7, '2026-05-01', '3000-01-01')`)
	env.Exec(t, `INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, terminated_from, terminated_to)
		VALUES (1, 1, '1', 'One', 'UTC', '{2026-03-07}', '{2026-03-09}')`)
	text, whole := dataelement.Text, dataelement.Whole
	day := func(m time.Month, d int) value { return dataelement.Day(civil.Of(2026, m, d)) }
	want := map[string]value{
		"PEOPLE_EMP_TERM": text("Second"), "PEOPLE_EMP_TERM_START_DATE": day(3, 4), "PEOPLE_EMP_TERM_END_DATE": day(3, 31), "TK_EMP_TERM_ID": whole(6),
		"TK_EMP_TERM_ALLOWS_INHERITANCE": dataelement.Bool(true), "TK_NEXT_EMP_TERM": text("Third"), "TK_NEXT_EMP_TERM_START_DATE": day(5, 1),
		"TK_EMP_TERM_COUNT": whole(2), "TK_EMP_TERM_DAYS": whole(6), "TK_TERMINATED_DAYS": whole(2), "TK_IS_TERMINATED": dataelement.Bool(true),
	}
	table := newTermTable(env.Pool)
	require.Empty(t, table.Problems())
	loaded, err := loadTerms(env.Ctx, env.Pool, []int64{1, 2})
	require.NoError(t, err)
	week := at{Days: civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))}
	for _, e := range table.Entries {
		assert.Equal(t, want[e.Key], e.Value(loaded[0], week), e.Key)
		assert.Equal(t, e.Type, want[e.Key].Type(), e.Key)
		e.Value(loaded[1], week)
		delete(want, e.Key)
	}
	assert.Empty(t, want, "elements that are not there any more")
}
