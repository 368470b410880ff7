package query

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// The schedules of the model: it computes every day alone.

const hour = 3600

// Conditions on the schedule alone, mostly on a few days, so that a single shift
// decides.
func TestScheduleConditionsComparedWithAModel(t *testing.T) {
	t.Parallel()
	asked := slices.DeleteFunc(Keys(), func(k key) bool { return !strings.HasPrefix(k.name, KeyScheduled) })
	compareWithModel(t, 20, func(t *rapid.T, m *model) *commonsv1.HyperfindConstraints {
		return &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{drawFilter(t, m, asked)}}
	}, rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, modelDays)))
}

type modelSegment struct {
	// place is a path, "" for the primary job, or \x01 with an id.
	place      string
	start, end int
}

// modelPattern has the shifts of each cycle day, by ordinal.
type modelPattern [][][]modelSegment

type modelSpan struct{ lane, from, to, pattern, position int }

type modelSchedule struct {
	spans []modelSpan
	// hidden are day, lane and ordinal.
	hidden [][3]int
	// entered are shifts by hand, with their days.
	entered map[int][][]modelSegment
	// leave is whole days, and intervals with a first day, start and end; each takes
	// shifts of some days, or of all.
	whole []modelLeave
	timed []modelLeave
}

// modelLeave is leave from a day on, in seconds after it begins, which takes the shifts
// of days from one up to another.
type modelLeave struct {
	day, start, end int
	some            bool
	from, to        int
}

func (l *modelLeave) takes(day int) bool { return !l.some || day >= l.from && day < l.to }

// columns are the days of the shifts as they are stored.
func (l *modelLeave) columns(first civil.Date) (from, to *time.Time) {
	if !l.some {
		return nil, nil
	}
	return new((first + civil.Date(l.from)).Time()), new((first + civil.Date(l.to)).Time())
}

// Leave that begins before or after the requested day can still take a shift of that day. Random
// data has this case too rarely alone.
func TestLeaveAroundTheDay(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	const day = 10
	for i, example := range []struct {
		shift modelSegment
		leave [3]int
	}{
		{modelSegment{"", 6 * hour, 14 * hour}, [3]int{day - 1, 12 * hour, 40 * hour}},
		{modelSegment{"", 25 * hour, 30 * hour}, [3]int{day + 1, hour, 6 * hour}},
		{modelSegment{"", 6 * hour, 14 * hour}, [3]int{day - 1, 12 * hour, 37 * hour}},
		{modelSegment{"", 25 * hour, 30 * hour}, [3]int{day + 1, 2 * hour, 6 * hour}},
	} {
		tenantID := int64(i + 1)
		ctx := tenant.With(t.Context(), tenantID)
		m := &model{patterns: []modelPattern{{{{example.shift}}}}, persons: []modelPerson{{id: 1, number: "1", schedule: modelSchedule{
			spans: []modelSpan{{from: 0, to: modelDays}}, timed: []modelLeave{{day: example.leave[0], start: example.leave[1], end: example.leave[2]}},
		}}}}
		require.NoError(t, m.store(ctx, pool))
		asked := &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{{Key: KeyScheduled, Operator: "IS_NOT_NULL"}}}
		root, err := Parse(asked)
		require.NoError(t, err)
		got := []int64{}
		require.NoError(t, NewExecutor(Config{}, pool).Run(ctx, root, civil.Through(first+day, first+day), nil,
			func(id int64, _, _ []byte) { got = append(got, id) }))
		assert.Equal(t, m.finds(asked, day, day), got, example)
		assert.Len(t, got, i/2, "the first two are taken, the others not")
	}
}

func drawShift(t *rapid.T, paths []string) []modelSegment {
	var out []modelSegment
	at := rapid.IntRange(0, 20).Draw(t, "starts")
	for range rapid.IntRange(1, 2).Draw(t, "segments") {
		place := rapid.SampledFrom(append([]string{"", "", "None/A", "\x012", "\x013"}, paths...)).Draw(t, "place")
		end := at + rapid.IntRange(1, 8).Draw(t, "hours")
		out, at = append(out, modelSegment{place, at * hour, end * hour}), end
	}
	return out
}

func drawShifts(t *rapid.T, paths []string) [][]modelSegment {
	var out [][]modelSegment
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "shifts") {
		out = append(out, drawShift(t, paths))
	}
	return out
}

func drawPatterns(t *rapid.T, paths []string) []modelPattern {
	out := make([]modelPattern, 3)
	for i := range out {
		for range rapid.IntRange(1, 9).Draw(t, "cycle") {
			out[i] = append(out[i], drawShifts(t, paths))
		}
	}
	return out
}

func drawSchedule(t *rapid.T, patterns []modelPattern, paths []string) modelSchedule {
	day := func(name string) int { return rapid.IntRange(0, modelDays-1).Draw(t, name) }
	s := modelSchedule{entered: map[int][][]modelSegment{}}
	for lane := range rapid.IntRange(0, 2).Draw(t, "lanes") {
		for from := rapid.IntRange(-20, modelDays).Draw(t, "from"); from < modelDays; {
			to := from + rapid.IntRange(1, 40).Draw(t, "days")
			pattern := rapid.IntRange(0, len(patterns)-1).Draw(t, "pattern")
			s.spans = append(s.spans, modelSpan{lane, from, to, pattern, rapid.IntRange(0, len(patterns[pattern])-1).Draw(t, "position")})
			from = to + rapid.IntRange(0, 5).Draw(t, "pause")
		}
	}
	generated := s.generatedShifts(patterns)
	for range rapid.SampledFrom([]int{0, 1, 3, 12}).Draw(t, "hidden") {
		if len(generated) > 0 && rapid.Bool().Draw(t, "hides") {
			s.hidden = append(s.hidden, rapid.SampledFrom(generated).Draw(t, "hides what"))
			continue
		}
		s.hidden = append(s.hidden, [3]int{day("hidden day"), rapid.IntRange(0, 1).Draw(t, "lane"), rapid.IntRange(0, 1).Draw(t, "ordinal")})
	}
	for range rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "entered") {
		on := day("entered day")
		s.entered[on] = append(s.entered[on], drawShift(t, paths))
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 4, 30}).Draw(t, "leave") {
		l := modelLeave{day: day("leave day"), some: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "some shifts")}
		l.from = max(0, l.day-rapid.IntRange(0, 2).Draw(t, "shifts from"))
		l.to = l.from + rapid.IntRange(1, 3).Draw(t, "shifts")
		if rapid.Bool().Draw(t, "whole") {
			s.whole = append(s.whole, l)
			continue
		}
		start := rapid.IntRange(0, 12).Draw(t, "leave start")
		hours := rapid.SampledFrom([]int{2, 8, 24, 48, 72}).Draw(t, "leave hours")
		l.start, l.end = start*hour, (start+hours)*hour
		s.timed = append(s.timed, l)
	}
	return s
}

// generatedShifts returns the days, lanes and ordinals of the shifts that spans generate.
func (s *modelSchedule) generatedShifts(patterns []modelPattern) [][3]int {
	var out [][3]int
	for _, span := range s.spans {
		pattern := patterns[span.pattern]
		for day := max(span.from, 0); day < min(span.to, modelDays); day++ {
			for ordinal := range pattern[(span.position+day-span.from)%len(pattern)] {
				out = append(out, [3]int{day, span.lane, ordinal})
			}
		}
	}
	return out
}

// on returns the segments of the shifts of a day that leave has not taken.
func (s *modelSchedule) on(patterns []modelPattern, day int) []modelSegment {
	shifts := append([][]modelSegment{}, s.entered[day]...)
	for _, span := range s.spans {
		if day < span.from || day >= span.to {
			continue
		}
		pattern := patterns[span.pattern]
		for ordinal, shift := range pattern[(span.position+day-span.from)%len(pattern)] {
			hidden := false
			for _, h := range s.hidden {
				hidden = hidden || h == [3]int{day, span.lane, ordinal}
			}
			if !hidden {
				shifts = append(shifts, shift)
			}
		}
	}
	for _, whole := range s.whole {
		if whole.day == day && whole.takes(day) {
			return nil
		}
	}
	var out []modelSegment
	for _, shift := range shifts {
		for _, segment := range shift {
			taken := false
			for _, l := range s.timed {
				begins := (l.day - day) * 24 * hour
				taken = taken || l.takes(day) && begins+l.start <= segment.start && begins+l.end >= segment.end
			}
			if !taken {
				out = append(out, segment)
			}
		}
	}
	return out
}

func (m *model) matchesScheduled(p *modelPerson, f *commonsv1.HyperfindCondition, from, to int) bool {
	for day := from; day <= to; day++ {
		for _, segment := range p.schedule.on(m.patterns, day) {
			place := segment.place
			if place == "" {
				place = p.path[day]
			}
			l := m.namedLocation(place, day)
			if id, ok := strings.CutPrefix(place, "\x01"); ok {
				l, _ = strconv.Atoi(id)
			}
			if f.GetKey() == KeyScheduled || f.GetKey() == KeyScheduledJob && m.isJob(f, l, day) ||
				f.GetKey() == KeyScheduledLocation && m.isBelow(f, l, day, to) {
				return true
			}
		}
	}
	return false
}

// storeSchedules writes the schedules into the database.
func (m *model) storeSchedules(batch *pgx.Batch, tenantID int64) {
	for id, pattern := range m.patterns {
		for cycleDay, shifts := range pattern {
			for ordinal, shift := range shifts {
				for number, s := range shift {
					batch.Queue(`INSERT INTO pattern_segment VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
						tenantID, id, cycleDay, ordinal, number, s.place, s.start, s.end)
				}
			}
		}
	}
	nextID := 1
	for i := range m.persons {
		p := &m.persons[i]
		for _, s := range p.schedule.spans {
			batch.Queue(`INSERT INTO schedule_span VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, tenantID, p.id, s.lane,
				(first + civil.Date(s.from)).Time(), (first + civil.Date(s.to)).Time(), s.pattern, s.position, len(m.patterns[s.pattern]))
		}
		for _, h := range p.schedule.hidden {
			batch.Queue(`INSERT INTO entered_shift (tenant_id, id, version, hides_person, hides_day, hides_lane, hides_ordinal)
				VALUES ($1, $2, 1, $3, $4, $5, $6)`, tenantID, nextID, p.id, (first + civil.Date(h[0])).Time(), h[1], h[2])
			nextID++
		}
		for day, shifts := range p.schedule.entered {
			for _, shift := range shifts {
				for number, s := range shift {
					batch.Queue(`INSERT INTO entered_shift_segment VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, tenantID, nextID, number,
						p.id, (first + civil.Date(day)).Time(), s.place, s.start, s.end)
				}
				nextID++
			}
		}
		for _, l := range append(p.schedule.whole, p.schedule.timed...) {
			from, to := l.columns(first)
			batch.Queue(`INSERT INTO leave_interval VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, tenantID, p.id, (first + civil.Date(l.day)).Time(),
				(first + civil.Date(l.day+max(0, l.end-1)/(24*hour))).Time(), l.start, l.end, from, to)
		}
	}
}
