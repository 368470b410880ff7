package person

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// Persons 3, 6, ... 240 exist the whole time. Before each page, persons on both sides of its end are deleted
// or created; another connection does the same all the time.
func TestPagesByCursorHaveEachLivingPersonOnce(t *testing.T) {
	t.Parallel()
	h, ctx := newReader(t)
	create := func(sql string) {
		_, err := h.pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
			SELECT 1, g, 'n' || g, 'x', 'UTC', '' FROM generate_series(1, 240) g WHERE `+sql+` ON CONFLICT DO NOTHING`)
		assert.NoError(t, err)
	}
	remove := func(sql string) {
		_, err := h.pool.Exec(ctx, `DELETE FROM person WHERE tenant_id = 1 AND `+sql)
		assert.NoError(t, err)
	}
	create("g % 3 < 2")
	stop := changeAllTheTime(func() { create("g % 3 = 2"); remove("id % 3 = 2") })
	defer stop()

	seen, after := map[int64]int{}, ""
	for pages := 0; pages == 0 || after != ""; pages++ {
		require.Less(t, pages, 250, "the pages must end")
		page, err := h.ApplyReadPersons(ctx, &commonsv1.ApplyReadPersonsRequest{After: &after, Count: proto.Int64(7)})
		require.NoError(t, err)
		assert.LessOrEqual(t, len(page.GetRecords().GetRecords()), 7)
		for _, r := range page.GetRecords().GetRecords() {
			seen[r.GetPersonId()]++
		}
		if after = page.GetNext(); pages%2 == 0 {
			remove("id % 3 = 1")
		} else {
			create("g % 3 = 1")
		}
	}
	for id := int64(3); id <= 240; id += 3 {
		assert.Equal(t, 1, seen[id], "person %d", id)
	}
	for id, times := range seen {
		assert.Equal(t, 1, times, "person %d", id)
	}
}

// changeAllTheTime repeats a change until the returned function is called.
func changeAllTheTime(change func()) (stop func()) {
	ending, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ending.Err() == nil {
			change()
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// The last page of a list has no next page, even if it is full.
func TestTheLastPageOfPersonsHasNoNext(t *testing.T) {
	t.Parallel()
	h, ctx := newReader(t)
	_, err := h.pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
		SELECT 1, g, 'n' || g, 'x', 'UTC', '' FROM generate_series(1, 4) g`)
	require.NoError(t, err)
	for _, test := range []struct {
		count int64
		want  []int
	}{{2, []int{2, 2}}, {3, []int{3, 1}}, {4, []int{4}}, {5, []int{4}}} {
		t.Run(fmt.Sprintf("pages of %d", test.count), func(t *testing.T) {
			var sizes []int
			for after, more := "", true; more; more = after != "" {
				page, err := h.ApplyReadPersons(ctx, &commonsv1.ApplyReadPersonsRequest{After: &after, Count: &test.count})
				require.NoError(t, err)
				sizes, after = append(sizes, len(page.GetRecords().GetRecords())), page.GetNext()
			}
			assert.Equal(t, test.want, sizes)
		})
	}
	page, err := h.ApplyReadPersons(ctx, &commonsv1.ApplyReadPersonsRequest{Count: proto.Int64(2)})
	require.NoError(t, err)
	assert.Empty(t, page.GetNext(), "pages by index have no cursor")
}

// newReader returns a handler on a database without persons.
func newReader(t *testing.T) (*Handler, context.Context) {
	t.Helper()
	now := clock.NewFake(time.Date(2026, time.March, 15, 12, 0, 0, 0, time.UTC))
	h, err := New(Config{DefaultTimeZone: "UTC", DefaultCurrency: "USD"}, Deps{Pool: pooltest.New(t), Rows: rowvisibility.New(now), Log: pgtest.Log(t), Clock: now})
	require.NoError(t, err)
	return h, tenant.With(t.Context(), 1)
}
