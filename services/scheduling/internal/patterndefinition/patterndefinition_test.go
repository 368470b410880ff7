package patterndefinition_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

type fixture struct {
	*schedtest.Env
	*patterndefinition.Definitions
	shifts   *setup.Resource[*schedulingv1.ShiftTemplate]
	patterns *setup.Resource[*schedulingv1.SchedulePattern]
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	return &fixture{
		Env: env, Definitions: patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind()),
		shifts:   &setup.Resource[*schedulingv1.ShiftTemplate]{Kind: shifttemplate.Kind(), Pool: env.Pool},
		patterns: &setup.Resource[*schedulingv1.SchedulePattern]{Kind: schedulepatterntemplate.Kind(), Pool: env.Pool},
	}
}

func add[T setup.Message](t *testing.T, w *fixture, resource *setup.Resource[T], sent T) T {
	t.Helper()
	stored, err := resource.Create(w.Ctx, sent)
	require.NoError(t, err)
	return stored
}

func (w *fixture) resolve(t *testing.T, patterns ...*schedulingv1.SchedulePattern) []patterndefinition.Result {
	t.Helper()
	requests := make([]patterndefinition.Request, len(patterns))
	for i, p := range patterns {
		requests[i] = patterndefinition.Request{Path: "p", Pattern: p}
	}
	results, err := w.Resolve(w.Ctx, w.Pool, requests)
	require.NoError(t, err)
	require.Len(t, results, len(patterns))
	return results
}

func TestResolveLooksTemplatesUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	stored := early()
	stored.Name = "Early"
	stored = add(t, w, w.shifts, stored)
	rota := pattern(2, item(2, &schedulingv1.ShiftTemplate{Name: "Early"}))
	rota.Name, rota.StartDate = "Rota", "2025-01-06"
	rota = add(t, w, w.patterns, rota)

	byName := pattern(7, item(1, &schedulingv1.ShiftTemplate{Name: "EARLY"}), item(2, early()))
	byID := pattern(7, item(1, &schedulingv1.ShiftTemplate{Id: stored.Id, Name: "whatever"}))
	given := proto.CloneOf(byName)
	results := w.resolve(t,
		byName, byID,
		pattern(7, item(1, &schedulingv1.ShiftTemplate{Name: "Late"})),
		pattern(7, item(1, &schedulingv1.ShiftTemplate{Id: proto.Int64(99), Name: "Early"})),
		&schedulingv1.SchedulePattern{Name: "rota"},
		&schedulingv1.SchedulePattern{Id: rota.Id, StartDate: "2025-02-03"},
		&schedulingv1.SchedulePattern{Name: "Rota of nobody"},
		&schedulingv1.SchedulePattern{Name: "nul\x00"},
		nil,
	)
	for _, i := range []int{0, 1, 4, 5} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			require.NoError(t, results[i].Err, i)
		})
	}
	assert.True(t, proto.Equal(given, byName), "what was asked stays as it was")
	assert.True(t, proto.Equal(stored, results[0].Definition.Pattern.GetItems()[0].GetShiftTemplate()))
	assert.True(t, proto.Equal(stored, results[1].Definition.Pattern.GetItems()[0].GetShiftTemplate()))
	requireRefused(t, results[2].Err, patterndefinition.CodeUnknown, `"Late" (p.items[0].shiftTemplate)`)
	requireRefused(t, results[3].Err, patterndefinition.CodeUnknown, "id 99")
	assert.Equal(t, int32(2), results[4].Definition.DayCount)
	assert.Equal(t, "2025-01-06", results[4].Definition.Pattern.GetStartDate())
	assert.True(t, proto.Equal(stored, results[4].Definition.Pattern.GetItems()[0].GetShiftTemplate()))
	assert.Equal(t, "2025-02-03", results[5].Definition.Pattern.GetStartDate(), "a start date beside the name stays")
	requireRefused(t, results[6].Err, patterndefinition.CodeUnknown, `"Rota of nobody" (p)`)
	requireRefused(t, results[7].Err, patterndefinition.CodeUnknown, "p")
	requireRefused(t, results[8].Err, patterndefinition.CodeMissing, "p")
}

// A pattern that is given in full does not name another one, and bad patterns do not keep others
// from being filled.
func TestResolveTakesPartsAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	stored := early()
	stored.Name = "Early"
	add(t, w, w.shifts, stored)
	rota := pattern(1, item(1, early()))
	rota.Name = "Rota"
	add(t, w, w.patterns, rota)

	noItems, noDays := pattern(7), pattern(7, item(1, early()))
	noItems.Name, noDays.Name, noDays.DayCount = "Rota", "Rota", nil
	results := w.resolve(t, noItems, noDays, pattern(7, item(1, early()), item(2, &schedulingv1.ShiftTemplate{Name: "Early"})))
	requireRefused(t, results[0].Err, patterndefinition.CodeMissing, "p.items")
	requireRefused(t, results[1].Err, patterndefinition.CodeMissing, "p.dayCount")
	require.NoError(t, results[2].Err)
	assert.Equal(t, "Early", results[2].Definition.Pattern.GetItems()[1].GetShiftTemplate().GetName())
	assert.Len(t, results[2].Definition.Pattern.GetItems()[1].GetShiftTemplate().GetSegments(), len(stored.GetSegments()))
}

// allDay is an availability of so many segments.
func allDay(segments int) *schedulingv1.AvailabilityTemplate {
	a := &schedulingv1.AvailabilityTemplate{}
	for range segments {
		a.Segments = append(a.Segments, &schedulingv1.AvailabilityTemplateSegment{AvailabilityType: name("Unavailable"), StartTime: "00:00", EndTime: "12:00"})
	}
	return a
}

func TestSegmentsOfADayAreBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	mixed := item(2, early())
	mixed.AvailabilityTemplate = allDay(3)
	mixed.ScheduleTagTemplate = &schedulingv1.ScheduleTagTemplate{}
	for range 5 {
		mixed.ScheduleTagTemplate.Segments = append(mixed.ScheduleTagTemplate.Segments, &schedulingv1.ScheduleTagTemplateSegment{TagDefinition: name("On call")})
	}
	available := func(segments int) *schedulingv1.SchedulePattern {
		return pattern(7, &schedulingv1.SchedulePatternItem{Day: proto.Int32(1), AvailabilityTemplate: allDay(segments)})
	}
	results := w.resolve(t, pattern(7, mixed), available(1000), available(1001))
	require.NoError(t, results[0].Err)
	assert.EqualValues(t, 1+3+5, results[0].Definition.EntriesPerDay)
	require.NoError(t, results[1].Err)
	requireRefused(t, results[2].Err, patterndefinition.CodeInvalid, "there are 1001")
}

func TestPatternsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	sized := func(size int) *schedulingv1.SchedulePattern {
		p := pattern(7, item(1, early()))
		require.NoError(t, patterndefinition.NewRules(patterndefinition.Settings{}).Pattern("p", p))
		p.Name = strings.Repeat("x", size-200)
		p.Name += strings.Repeat("x", size-proto.Size(p))
		require.Equal(t, size, proto.Size(p))
		return p
	}
	results := w.resolve(t, sized(2<<20), sized(2<<20+1))
	require.NoError(t, results[0].Err)
	requireRefused(t, results[1].Err, patterndefinition.CodeInvalid, "must not be larger than 2097152 bytes")
}

func TestCheckSetsDefaults(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	whole := pattern(7, item(1, early()))
	whole.TimePeriodType = nil
	require.NoError(t, w.Check(patterndefinition.Request{Path: "a", Pattern: whole}))
	assert.Equal(t, "Daily", whole.GetTimePeriodType().GetName())
	err := w.Check(patterndefinition.Request{Path: "c", Pattern: &schedulingv1.SchedulePattern{Name: "Rota"}})
	requireRefused(t, err, patterndefinition.CodeMissing, "c.dayCount")
}

// putDefinitions stores definitions in a transaction.
func (w *fixture) putDefinitions(definitions []*patterndefinition.Definition) (ids []int64, err error) {
	err = pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
		ids, err = w.Put(ctx, tx, definitions)
		return err
	})
	return ids, err
}

func TestPutStoresEqualPatternsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	named := pattern(7, item(1, early()))
	named.Name = "Named"
	results := w.resolve(t, pattern(7, item(1, early())), named, pattern(7, item(1, early())))
	definitions := make([]*patterndefinition.Definition, len(results))
	for i, r := range results {
		require.NoError(t, r.Err)
		definitions[i] = r.Definition
	}
	first, err := w.putDefinitions(definitions)
	require.NoError(t, err)
	assert.Equal(t, first[0], first[2])
	assert.NotEqual(t, first[0], first[1])
	again, err := w.putDefinitions(definitions[1:])
	require.NoError(t, err)
	assert.Equal(t, first[1:], again)
	assert.Equal(t, map[string]int{"schedule_pattern": 2, "outbox": 2}, w.Rows(t, "schedule_pattern", "outbox"), "each is published once")

	read, err := w.Patterns(w.Ctx, w.Pool, first)
	require.NoError(t, err)
	assert.True(t, proto.Equal(definitions[1].Pattern, read[first[1]]))
	_, err = w.Patterns(w.Ctx, w.Pool, []int64{first[0], 999})
	require.ErrorContains(t, err, "999")
}

func TestPutOfTheSamePatternsAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var patterns []*schedulingv1.SchedulePattern
	for i := range 20 {
		p := pattern(7, item(1, early()))
		p.Name = strings.Repeat("x", i)
		patterns = append(patterns, p)
	}
	var definitions []*patterndefinition.Definition
	for _, r := range w.resolve(t, patterns...) {
		definitions = append(definitions, r.Definition)
	}
	const writers = 6
	ids := make([][]int64, writers)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			mine := definitions
			if i%2 == 1 { // Another order must not end in a deadlock.
				mine = make([]*patterndefinition.Definition, len(definitions))
				for k, d := range definitions {
					mine[len(definitions)-1-k] = d
				}
			}
			assert.NoError(t, pg.InTx(w.Ctx, w.Pool, func(ctx context.Context, tx pgx.Tx) error {
				var err error
				ids[i], err = w.Put(ctx, tx, mine)
				return err
			}))
		})
	}
	group.Wait()
	assert.Equal(t, map[string]int{"schedule_pattern": 20}, w.Rows(t, "schedule_pattern"))
	for i := range writers {
		assert.ElementsMatch(t, ids[0], ids[i])
	}
}

func TestTenantsDoNotShare(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	stored := early()
	stored.Name = "Early"
	add(t, w, w.shifts, stored)
	requests := []patterndefinition.Request{{Path: "p", Pattern: pattern(7, item(1, &schedulingv1.ShiftTemplate{Name: "Early"}))}}
	results, err := w.Resolve(tenant.With(t.Context(), 2), w.Pool, requests)
	require.NoError(t, err)
	requireRefused(t, results[0].Err, patterndefinition.CodeUnknown, "Early")
}
