package location

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// large is a database with a tree of 100,000 locations on twelve levels, three below each: location
// n lies below (n+1)/3, and its name is its number. Every tenth location is the primary job of a
// person.
func large(t *testing.T) *pg.Pool {
	t.Helper()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	statements := []string{
		`INSERT INTO location (tenant_id, id, persistent_id) SELECT 1, n, n FROM generate_series(1, 100000) AS n`,
		`INSERT INTO location_version (tenant_id, location_id, from_date, to_date, parent_id, name, external_id)
			SELECT 1, n, '1900-01-01', '3000-01-01', nullif((n + 1) / 3, 0), n, 'X' || n FROM generate_series(1, 100000) AS n`,
		`WITH RECURSIVE tree AS (
			SELECT 1::bigint AS id, 1 AS depth, '.1.' AS lineage, '1' AS path
			UNION ALL SELECT n, depth + 1, lineage || n || '.', path || '/' || n
			FROM tree, generate_series(3 * id - 1, 3 * id + 1) AS n WHERE n <= 100000)
		INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
			SELECT 1, id, '1900-01-01', '3000-01-01', depth, lineage, path FROM tree`,
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
			SELECT 1, n, n, n, 'UTC', '' FROM generate_series(1, 10000) AS n`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
			SELECT 1, location_id / 10, '2020-01-01', '3000-01-01', path, '' FROM location_path WHERE location_id % 10 = 0`,
		`INSERT INTO location_set (tenant_id, id, name, type_id, persistent_id) VALUES (1, 1, 'Some', 1, 'some')`,
		`INSERT INTO location_set_location (tenant_id, set_id, location_id) SELECT 1, 1, n FROM generate_series(5000, 5100) AS n`,
		`ANALYZE`,
	}
	require.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// On a busy machine this takes longer than a request may.
		for _, sql := range append([]string{`SET LOCAL statement_timeout = 0`}, statements...) {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}))
	return pool
}

// wholeTable finds the reading of a whole table of the tree in a plan.
var wholeTable = regexp.MustCompile(`Seq Scan on (location|location_version|location_path|primary_labor_account) `)

func explain(t *testing.T, ctx context.Context, db interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, sql string, args ...any,
) string {
	t.Helper()
	rows, err := db.Query(ctx, `EXPLAIN `+sql, args...)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}

func TestALargeTree(t *testing.T) {
	t.Parallel()
	pool := large(t)
	ctx := tenant.With(t.Context(), 1)
	today := civil.Of(2026, time.March, 1)
	h := New(pool, clock.NewFake(today.Time()))

	t.Run("no question reads a whole table", func(t *testing.T) {
		for kind, q := range map[kind]question{
			byName: {text: "4711"}, byPath: {text: "1/2/5"}, top: {},
			descendants: {ids: []int64{1100}}, children: {ids: []int64{1100}},
			listed: {ids: []int64{1100, 1}}, ofSet: {ids: []int64{1}}, belowSet: {ids: []int64{1}, types: []int64{1}},
		} {
			t.Run(fmt.Sprintf("kind %d", kind), func(t *testing.T) {
				q.kind, q.days = kind, civil.Through(today, today)
				where, args := q.sql(1, nil)
				plan := explain(t, ctx, pool, `SELECT `+columns+where+` ORDER BY p.path, v.from_date, p.from_date LIMIT 10001`, args...)
				assert.NotRegexp(t, wholeTable, plan, "kind %d:\n%s", kind, plan)
			})
		}
		const employees = ` FROM primary_labor_account a WHERE a.tenant_id = $1 AND a.from_date <= $2 AND a.to_date > $2 AND a.organization_path `
		names := PathsBelow(t, pool, 1, 11000, today)
		assert.Len(t, names, 13)
		plan := explain(t, ctx, pool, `SELECT a.person_id`+employees+`= ANY($3)`, 1, today.Time(), names)
		assert.NotRegexp(t, wholeTable, plan, plan)
		below := `SELECT path FROM ` + locationpath.PathsBelowSQL("$1", "$3", "$2") + ` AS names`
		plan = explain(t, ctx, pool, below, 1, today.Time(), []int64{11000})
		assert.NotRegexp(t, wholeTable, plan, plan)
		assert.Contains(t, plan, "lineage < top.lineage_end", "both ends of the range bound what is read of the index")
		plan = explain(t, ctx, pool, `SELECT `+locationpath.AtSQL("$1", "$2", "$3")+`, `+locationpath.PathSQL("$1", "$4::bigint", "$3"), 1, "1/2", today.Time(), 7)
		assert.NotRegexp(t, wholeTable, plan, plan)
		var got, want int
		require.NoError(t, pool.QueryRow(ctx, `SELECT count(*)`+employees+`IN (`+below+`)`, 1, today.Time(), []int64{11}).Scan(&got))
		require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FROM primary_labor_account WHERE organization_path LIKE '1/4/11/%'`).Scan(&want))
		assert.Equal(t, want, got)
		assert.Greater(t, want, 100)
	})

	t.Run("a move changes no more than its subtree", func(t *testing.T) {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			plan := explain(t, ctx, tx, updatePathsSQL, 1, 1100, today.Time(), civil.Forever.Time())
			assert.NotRegexp(t, wholeTable, plan, plan)
			plan = explain(t, ctx, tx, checkSQL, 1, 1100, today.Time(), civil.Forever.Time())
			assert.NotRegexp(t, wholeTable, plan, plan)
			return nil
		})
		require.NoError(t, err)
		began := time.Now()
		_, err = h.MoveLocations(ctx, &commonsv1.MoveLocationsRequest{Move: &commonsv1.LocationMove{
			Where: &commonsv1.MovedLocations{SourceRef: &commonv1.Ref{Id: new(int64(5))}},
			Do:    &commonsv1.LocationDestination{DestinationRef: &commonv1.Ref{Id: new(int64(4))}, StartDate: "2026-03-01"},
		}})
		require.NoError(t, err)
		var rows, depth int
		took := time.Since(began)
		require.NoError(t, pool.QueryRow(ctx, `SELECT count(*), max(depth) FROM location_path WHERE tenant_id = 1 AND from_date = '2026-03-01'`).Scan(&rows, &depth))
		t.Logf("moved %d locations in %s", rows, took)
		assert.Less(t, took, time.Minute, "it takes two seconds, and minutes if each person reads all paths")
		assert.Equal(t, 12, depth)
		var before, after int
		const count = `SELECT count(*) FROM ` // of the locations below a node
		for day, into := range map[civil.Date]*int{today - 1: &before, today: &after} {
			require.NoError(t, pool.QueryRow(ctx, count+locationpath.PathsBelowSQL("$1", "$2", "$3")+` AS n`, 1, []int64{5}, day.Time()).Scan(into))
		}
		assert.Equal(t, rows, before)
		assert.Equal(t, 2*rows, after, "the old paths still name the locations")
	})

	t.Run("a response holds 10,000 locations and no more", func(t *testing.T) {
		read := func(id int64) (*commonsv1.LocationList, error) {
			return h.MultiReadLocations(ctx, &commonsv1.MultiReadLocationsRequest{Where: &commonsv1.LocationWhere{
				DescendantsOf: &commonsv1.LocationsOf{Context: "ORG", Date: "2026-03-01", LocationRef: &commonv1.Ref{Id: &id}},
			}})
		}
		_, err := read(1)
		require.True(t, fault.HasCode(err, "WCO-103295") && fault.HasStatus(err, 413), err)
		assert.EqualValues(t, 99999, fault.FromError(err).Details.GetLimits()[0].GetActual())
		assert.ErrorContains(t, err, "Ask for pages")
		seen := map[int64]bool{}
		for index := int64(0); ; index++ {
			list, err := h.MultiReadLocations(ctx, &commonsv1.MultiReadLocationsRequest{Index: &index, Count: proto.Int64(int64(maxLocations)), Where: &commonsv1.LocationWhere{
				DescendantsOf: &commonsv1.LocationsOf{Context: "ORG", Date: "2026-03-01", LocationRef: &commonv1.Ref{Id: proto.Int64(1)}},
			}})
			require.NoError(t, err)
			for _, l := range list.GetLocations() {
				seen[l.GetNodeId()] = true
			}
			if len(list.GetLocations()) < maxLocations {
				assert.Len(t, list.GetLocations(), 9999, "all pages but the last are full")
				break
			}
		}
		assert.Len(t, seen, 99999, "the whole tree below the top, each location once")
		set := func(n int) ([]found, error) {
			ids := make([]int64, n)
			for i := range ids {
				ids[i] = int64(i + 1)
			}
			return find(ctx, pool, question{kind: listed, ids: ids, days: civil.Through(today, today)}, nil, page{})
		}
		for n, fits := range map[int]bool{maxLocations - 1: true, maxLocations: true, maxLocations + 1: false} {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				list, err := set(n)
				if fits {
					require.NoError(t, err)
					assert.Len(t, list, n)
				} else {
					assert.True(t, fault.HasStatus(err, 413), err)
				}
			})
		}
	})
}
