package hyperfind

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/rpctest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
	"github.com/rotaloom/rotaloom/services/commons/internal/symbolicperiod"
)

// large is a database with 100,000 persons at 10,000 locations, three levels
// deep: person n works at location n % 10,000 + 1. Those up to 50,000 are
// active, the others inactive.
func large(t *testing.T) (context.Context, *pg.Pool) {
	t.Helper()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	const numbers = ` FROM generate_series(1, 100000) AS n`
	for _, sql := range []string{
		// They watch over every row, for ten times as long as it takes to write it.
		`ALTER TABLE employment_status DROP CONSTRAINT employment_status_overlap`,
		`ALTER TABLE user_account_status DROP CONSTRAINT user_account_status_overlap`,
		`ALTER TABLE pay_rule_assignment DROP CONSTRAINT pay_rule_assignment_overlap`,
		`ALTER TABLE primary_labor_account DROP CONSTRAINT primary_labor_account_overlap`,
		`ALTER TABLE badge_assignment DROP CONSTRAINT badge_assignment_overlap`,
		`INSERT INTO person (tenant_id, id, person_number, full_name, first_name, last_name, worker_type_name, supervisor_person_number, hire_date, time_zone, body)
			SELECT 1, n, 'N-' || n, 'Last' || n || ', First', 'First', 'Last' || n, CASE WHEN n % 200 = 0 THEN 'Part' ELSE '' END,
			'N-' || n % 1000, date '2000-01-01' + n % 5000, 'UTC', ''` + numbers,
		`INSERT INTO employment_status (tenant_id, person_id, from_date, to_date, status)
			SELECT 1, n, '2000-01-01', '3000-01-01', CASE WHEN n <= 50000 THEN 'Active' ELSE 'Inactive' END` + numbers,
		`INSERT INTO user_account_status (tenant_id, person_id, from_date, to_date, status)
			SELECT 1, n, '2000-01-01', '3000-01-01', CASE WHEN n % 200 = 0 THEN 'Inactive' ELSE 'Active' END` + numbers,
		`INSERT INTO pay_rule_assignment (tenant_id, person_id, from_date, to_date, pay_rule_name)
			SELECT 1, n, '2000-01-01', '3000-01-01', 'Rule ' || n % 500` + numbers,
		`INSERT INTO badge_assignment (tenant_id, person_id, badge_number, from_date, to_date) SELECT 1, n, n, '2000-01-01', '3000-01-01'` + numbers,
		`INSERT INTO custom_data (tenant_id, person_id, type_name, text) SELECT 1, n, 'Colour', 'C' || n % 1000` + numbers,
		`INSERT INTO custom_date (tenant_id, person_id, type_name, date) SELECT 1, n, 'Day', date '2000-01-01' + n % 1000` + numbers,
		`INSERT INTO membership (tenant_id, person_id, from_date, to_date, employment_term_id) SELECT 1, n, '2000-01-01', '3000-01-01', n % 500` + numbers,
		`INSERT INTO employment_term (tenant_id, id, name, deleted, version) SELECT 1, n, 'Term ' || n, false, 1 FROM generate_series(1, 5000) AS n`,
		`INSERT INTO job (tenant_id, id, persistent_id) SELECT 1, n, n FROM generate_series(1, 500) AS n`,
		`INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name) SELECT 1, n, '1900-01-01', '3000-01-01', 'Job ' || n FROM generate_series(1, 500) AS n`,
		`INSERT INTO location (tenant_id, id, persistent_id) SELECT 1, n, n FROM generate_series(1, 10000) AS n`,
		`INSERT INTO location_version (tenant_id, location_id, from_date, to_date, parent_id, name, job_id)
			SELECT 1, n, '1900-01-01', '3000-01-01', nullif((n + 98) / 100, 0), n, CASE WHEN n > 101 THEN n % 500 + 1 END FROM generate_series(1, 10000) AS n`,
		`WITH RECURSIVE tree AS (
			SELECT 1::bigint AS id, 1 AS depth, '.1.' AS lineage, '1' AS path
			UNION ALL SELECT location_id, depth + 1, lineage || location_id || '.', path || '/' || location_id
			FROM tree JOIN location_version ON parent_id = id)
		INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
			SELECT 1, id, '1900-01-01', '3000-01-01', depth, lineage, path FROM tree`,
		`INSERT INTO former_location_path (tenant_id, path, location_id) SELECT 1, 'former/' || n, n FROM generate_series(1, 10000) AS n`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
			SELECT 1, n, '2000-01-01', '3000-01-01', path, '' FROM generate_series(1, 100000) AS n JOIN location_path ON location_id = n % 10000 + 1`,
		// Everybody follows one of 1,000 patterns of two weeks, the first 500 on
		// their primary job, the others at a location. Every tenth person has
		// something else as well.
		`INSERT INTO pattern_segment (tenant_id, pattern_id, cycle_day, ordinal, segment, job, start_second, end_second)
			SELECT 1, n, day, 0, 0, CASE WHEN n <= 500 THEN '' ELSE (SELECT path FROM location_path WHERE location_id = n) END, 21600, 50400
			FROM generate_series(1, 1000) AS n, generate_series(0, 9) AS day`,
		`INSERT INTO schedule_span (tenant_id, person_id, lane, from_date, to_date, pattern_id, position, day_count)
			SELECT 1, n, 0, '2020-01-01', '3000-01-01', n % 1000 + 1, n % 14, 14` + numbers,
		`INSERT INTO entered_shift (tenant_id, id, version, hides_person, hides_day, hides_lane, hides_ordinal)
			SELECT 1, n, 1, n, date '2026-03-01' + n % 31, 0, 0` + numbers + ` WHERE n % 10 = 0`,
		`INSERT INTO entered_shift_segment (tenant_id, shift_id, segment, person_id, day, job, start_second, end_second)
			SELECT 1, n, 0, n, date '2026-01-01' + n % 100, CASE WHEN n % 20 = 0 THEN '' ELSE '1/50/' || n % 100 + 4901 END, 21600, 50400` + numbers + ` WHERE n % 10 = 0`,
		`INSERT INTO leave_interval (tenant_id, person_id, from_day, to_day, start_second, end_second)
			SELECT 1, n, date '2026-03-01' + n % 31, date '2026-03-01' + n % 31, 0, 0` + numbers + ` WHERE n % 10 = 5`,
		`ANALYZE`,
	} {
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
	return ctx, pool
}

var (
	// A step that never ran read nothing.
	wholeTable = regexp.MustCompile(`Seq Scan on [^(]*\(actual `)
	touched    = regexp.MustCompile(`(?:actual rows=|Rows Removed by .*: )(\d+)`)
)

// filters that find 500 of 100,000 persons at most, one for each key.
func selective() map[string]*commonsv1.HyperfindCondition {
	values := func(operator string, values ...string) *commonsv1.HyperfindCondition {
		return &commonsv1.HyperfindCondition{Operator: operator, Values: values}
	}
	refs := func(refs ...*commonv1.Ref) *commonsv1.HyperfindCondition {
		return &commonsv1.HyperfindCondition{Operator: "IN", Refs: refs}
	}
	colour, day := values("EQUAL_TO", "C7"), values("BETWEEN", "2000-02-01", "2000-02-03")
	colour.TypeName, day.TypeName = "Colour", "Day"
	return map[string]*commonsv1.HyperfindCondition{
		"PERSON_NUMBER": values("STARTS_WITH", "N-777"), "LAST_NAME": values("STARTS_WITH", "LAST99"), "FULL_NAME": values("EQUAL_TO", "last5, first"),
		"FIRST_NAME": values("EQUAL_TO", "nobody"), "WORKER_TYPE": values("EQUAL_TO", "Part"), "HIRE_DATE": values("LESS_THAN", "2000-01-10"),
		"EMPLOYMENT_STATUS": values("EQUAL_TO", "Terminated"), "USER_ACCOUNT_STATUS": values("EQUAL_TO", "Inactive"), "PAY_RULE": values("IN", "Rule 7", "Rule 8"),
		"BADGE": values("EQUAL_TO", "4711"), "ORGANIZATION_PATH": values("STARTS_WITH", "1/50/"), "CUSTOM_FIELD": colour, "CUSTOM_DATE": day,
		query.KeyLocation: refs(&commonv1.Ref{Id: proto.Int64(5000)}, &commonv1.Ref{Qualifier: proto.String("1/2/103")}),
		query.KeyJob:      refs(&commonv1.Ref{Id: proto.Int64(7)}), query.KeyTerm: refs(&commonv1.Ref{Id: proto.Int64(7)}),
		query.KeyScheduled: {Operator: "IS_NOT_NULL"}, query.KeyScheduledJob: refs(&commonv1.Ref{Id: proto.Int64(7)}),
		query.KeyScheduledLocation: refs(&commonv1.Ref{Id: proto.Int64(5000)}),
		query.KeyManager:           refs(&commonv1.Ref{Id: proto.Int64(7)}, &commonv1.Ref{Qualifier: proto.String("N-8")}),
		query.KeyHyperfind:         refs(&commonv1.Ref{Id: proto.Int64(1)}),
	}
}

func TestOneHundredThousandPersons(t *testing.T) {
	t.Parallel()
	ctx, pool := large(t)
	t.Run("no selective query reads a whole table", func(t *testing.T) { plans(t, ctx, pool) })
	t.Run("limits", func(t *testing.T) { limits(t, ctx, pool) })
}

func plans(t *testing.T, ctx context.Context, pool *pg.Pool) {
	t.Helper()
	days := civil.Through(civil.Of(2026, time.March, 1), civil.Of(2026, time.March, 31))
	active := &commonsv1.HyperfindCondition{Key: "EMPLOYMENT_STATUS", Operator: "EQUAL_TO", Values: []string{"Active"}}
	filters := selective()
	filters["PAY_RULE"].Key = "PAY_RULE"
	contained := query.Contained{1: {Filters: []*commonsv1.HyperfindCondition{filters["PAY_RULE"]}}}
	check := func(name string, constraints *commonsv1.HyperfindConstraints) {
		root, err := query.Parse(constraints)
		if len(query.ContainedRefs(constraints)) > 0 {
			root, err = query.ParseOn(constraints, days, contained)
		}
		require.NoError(t, err)
		sql, args := query.Compile(1, root, days, nil)
		var lines []string
		batch := &pgx.Batch{}
		batch.Queue(query.SessionSettings, "20000")
		batch.Queue("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) "+sql, args...).Query(func(found pgx.Rows) (err error) {
			lines, err = pgx.CollectRows(found, pgx.RowTo[string])
			return err
		})
		require.NoError(t, pool.SendBatch(ctx, batch).Close(), name)
		plan := strings.Join(lines, "\n")
		assert.NotRegexp(t, wholeTable, plan, "%s:\n%s", name, plan)
		for _, m := range touched.FindAllStringSubmatch(plan, -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			assert.LessOrEqual(t, n, 3000, "%s:\n%s", name, plan)
		}
	}
	assert.Len(t, filters, len(query.Keys()), "every key has a filter")
	for name, f := range filters {
		if f.Key = name; name == query.KeyScheduled {
			continue // Everybody is.
		}
		check(name, &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{f}})
		check(name+" of those active", &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{active, f}})
	}
	for _, operator := range []string{"IS_NULL", "IS_NOT_NULL"} {
		check("some of whom it is asked whether they are scheduled", &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{
			{Key: query.KeyScheduled, Operator: operator}, filters["PAY_RULE"],
		}})
	}
	check("some and not others", &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{
		{Constraints: &commonsv1.HyperfindConstraints{Comparator: "OR", Filters: []*commonsv1.HyperfindCondition{filters["PAY_RULE"], filters[query.KeyTerm]}}},
		{Constraints: &commonsv1.HyperfindConstraints{Comparator: "NOT", Filters: []*commonsv1.HyperfindCondition{filters["WORKER_TYPE"]}}},
	}})
}

// limits asks for as many persons as may be returned, one less and one more.
func limits(t *testing.T, ctx context.Context, pool *pg.Pool) {
	t.Helper()
	clk := clock.NewFake(time.Date(2026, time.March, 15, 12, 0, 0, 0, time.UTC))
	rules := rowvisibility.New(clk)
	periods, err := symbolicperiod.New(symbolicperiod.Config{Zone: "UTC"}, pool, rules, clk)
	require.NoError(t, err)
	finder := NewFinder(query.Config{}, pool)
	h := New(pool, finder, rules, periods, noGroups())
	march := &commonv1.DateRange{StartDate: "2026-03-01", EndDate: "2026-03-31"}
	numbered := func(upTo int, threshold *int64) (*commonsv1.HyperfindResponse, error) {
		// Twenty persons were hired on each day.
		req := &commonsv1.TestHyperfindQueryRequest{DateRange: march, Threshold: threshold, Constraints: &commonsv1.HyperfindConstraints{
			Comparator: "OR", Filters: []*commonsv1.HyperfindCondition{{Key: "EMPLOYMENT_STATUS", Operator: "EQUAL_TO", Values: []string{"Active"}}},
		}}
		if upTo < 50_000 {
			req.Constraints = &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{{Key: "HIRE_DATE", Operator: "LESS_THAN", Values: []string{
				civil.Of(2000, time.January, 1).AddDays(upTo / 20).String(),
			}}}}
		} else if upTo > 50_000 {
			req.Constraints.Filters = append(req.Constraints.Filters, &commonsv1.HyperfindCondition{Key: "BADGE", Operator: "EQUAL_TO", Values: []string{fmt.Sprint(upTo)}})
		}
		response, err := h.TestHyperfindQuery(ctx, req)
		if err != nil {
			return nil, err
		}
		wire, err := proto.Marshal(response)
		require.NoError(t, err)
		decoded := &commonsv1.HyperfindResponse{}
		return decoded, proto.Unmarshal(wire, decoded)
	}
	refused := func(err error, code string, status int, actual, maximum int64) {
		t.Helper()
		require.True(t, fault.HasCode(err, code) && fault.HasStatus(err, status), err)
		assert.True(t, proto.Equal(&commonv1.LimitDetail{Actual: actual, Maximum: maximum}, fault.FromError(err).Details.GetLimits()[0]), err)
	}

	response, err := numbered(3500, nil)
	require.NoError(t, err)
	assert.EqualValues(t, 3500, response.GetCount())
	_, err = numbered(3520, nil)
	refused(err, CodeTooMany, 400, 3520, 3500)
	_, err = numbered(3500, proto.Int64(3499))
	refused(err, CodeTooMany, 400, 3500, 3499)

	response, err = numbered(50_000, proto.Int64(50_000))
	require.NoError(t, err)
	assert.EqualValues(t, 50_000, response.GetCount())
	require.Len(t, response.GetResult().GetRefs().GetRefs(), 50_000)
	persons := response.GetResult().GetBasePersons().GetPersons()
	require.Len(t, persons, 50_000)
	assert.True(t, proto.Equal(&commonsv1.HyperfindPerson{
		PersonId: 50_000, PersonNumber: "N-50000", FullName: "Last50000, First", DisplayName: "Last50000, First",
	}, persons[49_999]), persons[49_999])
	assert.Equal(t, "N-50000", response.GetResult().GetRefs().GetRefs()[49_999].GetQualifier())
	_, err = numbered(50_000, proto.Int64(49_999))
	refused(err, CodeTooMany, 400, 50_000, 49_999)
	_, err = numbered(50_001, proto.Int64(50_000))
	refused(err, CodeMost, 413, 50_001, 50_000)
	_, err = numbered(50_001, nil)
	refused(err, CodeMost, 413, 50_001, 50_000)
	_, err = numbered(1, proto.Int64(50_001))
	refused(err, CodeMost, 413, 50_001, 50_000)

	t.Run("a request names 10,000 persons or locations, and no more", func(t *testing.T) {
		local := rpctest.Local(t)
		commonsv1.RegisterHyperfindServiceServer(local, h)
		client := commonsv1.NewHyperfindServiceClient(local.Conn("test", nil))
		refs := func(n int) []*commonv1.Ref {
			out := make([]*commonv1.Ref, n)
			for i := range out {
				out[i] = &commonv1.Ref{Id: proto.Int64(int64(i + 1))}
			}
			return out
		}
		for _, n := range []int{9999, 10_000} {
			response, err := client.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{DateRange: march, Persons: refs(n), Threshold: proto.Int64(50_000)})
			require.NoError(t, err)
			assert.EqualValues(t, n, response.GetCount())
			_, err = client.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{DateRange: march, Locations: refs(n), Threshold: proto.Int64(50_000)})
			refused(err, CodeMost, 413, 100_000, 50_000) // All of them lie below the first.
		}
		_, err := client.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{DateRange: march, Persons: refs(10_001)})
		refused(err, "WCO-112011", 413, 10_001, 10_000)
		_, err = client.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{DateRange: march, Locations: refs(10_001)})
		refused(err, "WCO-112012", 413, 10_001, 10_000)
	})
	t.Run("members are not limited by a threshold", func(t *testing.T) {
		ids, err := finder.Members(tenant.With(t.Context(), 1), &commonv1.Ref{Qualifier: proto.String("All Home")}, civil.Through(today(clk), today(clk)))
		require.NoError(t, err)
		require.Len(t, ids, 50_000)
		assert.EqualValues(t, []int64{1, 2, 3}, ids[:3])
		ids, err = finder.Members(tenant.With(t.Context(), 2), &commonv1.Ref{Id: proto.Int64(1)}, civil.Through(today(clk), today(clk)))
		require.NoError(t, err)
		assert.Empty(t, ids, "another tenant")
	})
	t.Run("callers find whom they may see", func(t *testing.T) {
		lead := authn.With(ctx, &authn.Principal{Tenant: 1, Subject: "lead", PersonID: 7, Rows: "own"}, "")
		response, err := h.ExecuteHyperfind(lead, &commonsv1.ExecuteHyperfindRequest{DateRange: march, Hyperfind: &commonv1.Ref{Id: proto.Int64(1)}})
		require.NoError(t, err)
		wire, err := proto.Marshal(response)
		require.NoError(t, err)
		decoded := &commonsv1.HyperfindResponse{}
		require.NoError(t, proto.Unmarshal(wire, decoded))
		assert.Equal(t, int64(1), decoded.GetCount())
		assert.Equal(t, int64(7), decoded.GetResult().GetRefs().GetRefs()[0].GetId())
		_, err = h.ExecuteHyperfind(lead, &commonsv1.ExecuteHyperfindRequest{DateRange: march, Persons: []*commonv1.Ref{{Id: proto.Int64(8)}}})
		assert.True(t, fault.HasCode(err, CodeUnknownPersons), err)
	})
	t.Run("a query that runs too long is stopped, and harms nobody", func(t *testing.T) {
		setting := func() (timeout string) {
			require.NoError(t, pool.QueryRow(ctx, `SHOW statement_timeout`).Scan(&timeout))
			return timeout
		}
		before := setting()
		slow := query.NewExecutor(query.Config{Timeout: time.Millisecond, Concurrent: 1}, pool)
		root, err := query.Parse(nil)
		require.NoError(t, err)
		err = slow.Run(ctx, root, civil.Range{From: 1, To: 2}, nil, func(int64, []byte, []byte) {})
		assert.True(t, fault.HasCode(err, query.CodeSlow) && fault.HasStatus(err, 400), err)
		assert.Equal(t, before, setting(), "the setting ended with the query")
	})
	t.Run("a caller with many slow queries keeps nobody waiting", func(t *testing.T) {
		shared := query.NewExecutor(query.Config{Concurrent: 4}, pool)
		// A query for the employees who are scheduled at any location in a year takes seconds.
		slow, err := query.Parse(&commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{
			{Key: query.KeyScheduledLocation, Operator: "IN", Refs: []*commonv1.Ref{{Id: proto.Int64(1)}}},
		}})
		require.NoError(t, err)
		rule := selective()["PAY_RULE"]
		rule.Key = "PAY_RULE"
		quick, err := query.Parse(&commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{rule}})
		require.NoError(t, err)
		year := civil.Through(civil.Of(2026, time.January, 1), civil.Of(2026, time.December, 31))
		as := func(tenantID int64, user string) context.Context {
			return authn.With(tenant.With(t.Context(), tenantID), &authn.Principal{Tenant: tenantID, Subject: user}, "")
		}
		attack, stop := context.WithCancel(as(1, "greedy"))
		var running sync.WaitGroup
		for range 24 {
			running.Go(func() { _ = shared.Run(attack, slow, year, nil, func(int64, []byte, []byte) {}) })
		}
		state := func() (running, waiting int) {
			return shared.Load()
		}
		require.Eventually(t, func() bool { n, line := state(); return n == 2 && line == 22 }, 10*time.Second, time.Millisecond)
		for _, victim := range []struct {
			tenant int64
			user   string
		}{{1, "colleague"}, {2, "stranger"}} {
			require.NoError(t, shared.Run(as(victim.tenant, victim.user), quick, year, nil, func(int64, []byte, []byte) {}))
			n, line := state()
			assert.Equal(t, 2, n, "%s did not wait for those who run", victim.user)
			assert.Positive(t, line, "nor for those who wait")
		}
		stop()
		running.Wait()
	})
}

func today(clk clock.Clock) civil.Date { return civil.FromTime(clk.Now()) }
