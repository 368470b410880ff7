package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestQueriesComparedWithAModel(t *testing.T) {
	t.Parallel()
	compareWithModel(t, 12, func(t *rapid.T, m *model) *commonsv1.HyperfindConstraints {
		return drawConstraints(t, m, 3)
	}, rapid.IntRange(1, modelDays))
}

// compareWithModel asks queries of models and of the database, on as many days as
// are drawn.
func compareWithModel(
	t *testing.T, queries int, draw func(*rapid.T, *model) *commonsv1.HyperfindConstraints, length *rapid.Generator[int],
) {
	t.Helper()
	pool := pooltest.New(t)
	executor := NewExecutor(Config{}, pool)
	tenantID := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		tenantID++
		ctx := tenant.With(context.Background(), tenantID)
		m := drawModel(t)
		require.NoError(t, m.store(ctx, pool))
		for range queries {
			from := rapid.IntRange(0, modelDays-1).Draw(t, "from")
			to := min(from+length.Draw(t, "length"), modelDays) - 1
			constraints := draw(t, m)
			root, err := Parse(constraints)
			require.NoError(t, err)
			got := []int64{}
			err = executor.Run(ctx, root, civil.Through(first+civil.Date(from), first+civil.Date(to)), nil,
				func(id int64, _, _ []byte) { got = append(got, id) })
			require.NoError(t, err, constraints)
			assert.Equal(t, m.finds(constraints, from, to), got, "days %d to %d: %s", from, to, constraints)
		}
	})
}

func drawConstraints(t *rapid.T, m *model, depth int) *commonsv1.HyperfindConstraints {
	anyKey := slices.DeleteFunc(Keys(), func(k key) bool { return k.name == "USER_ACCOUNT_STATUS" || k.name == KeyHyperfind })
	out := &commonsv1.HyperfindConstraints{Comparator: rapid.SampledFrom([]string{"", "AND", "OR", "NOT"}).Draw(t, "comparator")}
	for range rapid.IntRange(1, 3).Draw(t, "filters") {
		if depth > 1 && rapid.IntRange(0, 2).Draw(t, "nested") == 0 {
			out.Filters = append(out.Filters, &commonsv1.HyperfindCondition{Constraints: drawConstraints(t, m, depth-1)})
			continue
		}
		out.Filters = append(out.Filters, drawFilter(t, m, anyKey))
	}
	return out
}

func drawFilter(t *rapid.T, m *model, among []key) *commonsv1.HyperfindCondition {
	k := rapid.SampledFrom(among).Draw(t, "key")
	f := &commonsv1.HyperfindCondition{Key: k.name}
	var names []string
	for name, op := range operators() {
		if slices.Contains(k.operators(), op.operator) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	f.Operator = rapid.SampledFrom(names).Draw(t, "operator")
	values := 1
	switch {
	case strings.HasSuffix(f.Operator, "NULL"):
		values = 0
	case strings.HasSuffix(f.Operator, "BETWEEN"):
		values = 2
	case strings.HasSuffix(f.Operator, "IN"):
		values = rapid.IntRange(1, 3).Draw(t, "values")
	}
	if k.kind == customText || k.kind == customDate {
		f.TypeName = rapid.SampledFrom([]string{"Colour", "Day"}).Draw(t, "type")
	}
	for range values {
		if k.kind == reference {
			f.Refs = append(f.Refs, drawRef(t, m, k.name))
			continue
		}
		f.Values = append(f.Values, drawValue(t, m, &k, f.Operator))
	}
	if (k.name == KeyLocation || k.name == KeyScheduledLocation) && rapid.Bool().Draw(t, "alone") {
		f.IncludeDescendants = proto.Bool(false)
	}
	return f
}

func drawRef(t *rapid.T, m *model, key string) *commonv1.Ref {
	id := rapid.Int64Range(1, 5).Draw(t, "ref")
	if rapid.Bool().Draw(t, "by id") {
		return &commonv1.Ref{Id: &id, Qualifier: proto.String("ignored")}
	}
	name := map[string]string{KeyJob: fmt.Sprint("Job ", id), KeyScheduledJob: fmt.Sprint("Job ", id), KeyTerm: fmt.Sprint("Term ", id)}[key]
	switch key {
	case KeyLocation, KeyScheduledLocation:
		name = rapid.SampledFrom([]string{"A", "B", "A/A", "A/B", "B/A", "A/A/A", "None/A"}).Draw(t, "path")
	case KeyManager:
		name = rapid.SampledFrom([]string{"N-00", "N-11", "N-x"}).Draw(t, "manager")
	}
	return &commonv1.Ref{Qualifier: &name}
}

func drawValue(t *rapid.T, m *model, k *key, operator string) string {
	p := &m.persons[rapid.IntRange(0, len(m.persons)-1).Draw(t, "like")]
	day := rapid.IntRange(0, modelDays-1).Draw(t, "on")
	if k.kind == date || k.kind == customDate {
		return (first + civil.Date(day)).String()
	}
	value := map[string]string{
		"PERSON_NUMBER": p.number, "FIRST_NAME": strings.ToUpper(p.first), "LAST_NAME": p.last, "FULL_NAME": p.last + ", " + p.first,
		"WORKER_TYPE": p.worker, "EMPLOYMENT_STATUS": p.status[day], "PAY_RULE": p.payRule[day], "BADGE": p.badge[day],
		"ORGANIZATION_PATH": p.path[day], "CUSTOM_FIELD": p.custom,
	}[k.name]
	if value == "" {
		return "Inactive" // a status, and a text that no person has elsewhere
	}
	if strings.HasSuffix(operator, "STARTS_WITH") || operator == "NOT_STARTS" {
		runes := []rune(value)
		return string(runes[:rapid.IntRange(1, len(runes)).Draw(t, "letters")])
	}
	return value
}

// store writes the model into the database.
func (m *model) store(ctx context.Context, pool *pg.Pool) error {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	at := func(day int) time.Time { return (first + civil.Date(day)).Time() }
	runs := func(days perDay, each func(from, to time.Time, value string)) {
		for day := 0; day < modelDays; {
			end := day + 1
			for end < modelDays && days[end] == days[day] {
				end++
			}
			if days[day] != "" {
				each(at(day), at(end), days[day])
			}
			day = end
		}
	}
	for i := range m.persons {
		p := &m.persons[i]
		var hired *time.Time
		if p.hired >= 0 {
			day := at(p.hired)
			hired = &day
		}
		batch.Queue(`INSERT INTO person (tenant_id, id, person_number, full_name, first_name, last_name, worker_type_name, supervisor_person_number, hire_date, time_zone, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'UTC', '')`, tenantID, p.id, p.number, p.last+", "+p.first, p.first, p.last, p.worker, p.manager, hired)
		for table, days := range map[string]perDay{
			"employment_status (tenant_id, person_id, from_date, to_date, status)": p.status, "pay_rule_assignment (tenant_id, person_id, from_date, to_date, pay_rule_name)": p.payRule,
			"badge_assignment (tenant_id, person_id, from_date, to_date, badge_number)":                                p.badge,
			"primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)": p.path,
			"membership (tenant_id, person_id, from_date, to_date, employment_term_id)":                                p.term,
		} {
			last := map[bool]string{true: ", ''"}[strings.Contains(table, "labor_category")]
			value := "$5"
			if strings.HasPrefix(table, "membership") {
				value = "$5::text::bigint"
			}
			runs(days, func(from, to time.Time, v string) {
				batch.Queue(`INSERT INTO `+table+` VALUES ($1, $2, $3, $4, `+value+last+`)`, tenantID, p.id, from, to, v)
			})
		}
		if p.custom != "" {
			batch.Queue(`INSERT INTO custom_data (tenant_id, person_id, type_name, text) VALUES ($1, $2, 'Colour', $3)`, tenantID, p.id, p.custom)
		}
		if p.customDay >= 0 {
			batch.Queue(`INSERT INTO custom_date (tenant_id, person_id, type_name, date) VALUES ($1, $2, 'Day', $3)`, tenantID, p.id, at(p.customDay))
		}
	}
	m.storeSchedules(batch, tenantID)
	for id := 1; id <= 2; id++ {
		batch.Queue(`INSERT INTO employment_term (tenant_id, id, name, deleted, version) VALUES ($1, $2, $3, false, 1)`, tenantID, id, fmt.Sprint("Term ", id))
		batch.Queue(`INSERT INTO job (tenant_id, id, persistent_id) VALUES ($1, $2::bigint, $2::bigint::text)`, tenantID, id)
		batch.Queue(`INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name) VALUES ($1, $2, '1900-01-01', '3000-01-01', $3)`, tenantID, id, fmt.Sprint("Job ", id))
	}
	for l := 1; l <= locations; l++ {
		batch.Queue(`INSERT INTO location (tenant_id, id, persistent_id) VALUES ($1, $2::bigint, $2::bigint::text)`, tenantID, l)
		for e := range m.locations {
			place := m.locations[e][l]
			if place.path == "" {
				continue
			}
			lineage := "."
			for up := l; up > 0; up = m.locations[e][up].parent {
				lineage = fmt.Sprint(".", up, lineage)
			}
			name := place.path[strings.LastIndex(place.path, "/")+1:]
			from, to := at(e*epochDays), at((e+1)*epochDays)
			batch.Queue(`INSERT INTO location_version (tenant_id, location_id, from_date, to_date, name, job_id) VALUES ($1, $2, $3, $4, $5, nullif($6, 0))`,
				tenantID, l, from, to, name, place.job)
			batch.Queue(`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				tenantID, l, from, to, strings.Count(place.path, "/")+1, lineage, place.path)
		}
	}
	return pool.SendBatch(ctx, batch).Close()
}
