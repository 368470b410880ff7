package hiddenentry_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// The days of a case.
const horizon = civil.Date(30)

// menu are the entries of patterns, by letters; some differ in their times only. The
// small letter is a pay code edit.
var menu = map[byte]func() *schedulingv1.SchedulePatternItem{
	'E': func() *schedulingv1.SchedulePatternItem { return shift("06:00", "14:00") },
	'F': func() *schedulingv1.SchedulePatternItem { return shift("07:00", "15:00") },
	'L': func() *schedulingv1.SchedulePatternItem { return shift("14:00", "22:00") },
	'N': func() *schedulingv1.SchedulePatternItem { return shift("22:00", "23:30") },
	't': func() *schedulingv1.SchedulePatternItem { return payCodeEdit("Training") },
}

// hours are the times of the letters in the model.
var hours = map[byte][2]int{'E': {6, 14}, 'F': {7, 15}, 'L': {14, 22}, 'N': {22, 24}, 't': {0, 24}}

// rota is a pattern: the letters of each cycle day, in their order.
type rota []string

// deletion is a deleted entry of the model: one of the letters of the lineage on the day.
type deletion struct {
	day     civil.Date
	lineage int64
	letters string
	index   int
}

// simulation is one employee whose assignments change, and whose entries are deleted.
type simulation struct {
	*rand.Rand
	rotas       []rota // by pattern id
	assignments []span.Assignment
	memberships []span.Membership
	current     []span.Span
	hides       []hiddenentry.Hide
	deleted     []deletion
	lineages    map[int64]int64
	patterns    map[int64]*hiddenentry.Pattern
	next        int64 // assignment
	series      int64
}

// Through all changes of assignments and memberships, exactly the deleted entries are hidden. A
// model that computes each day alone decides which they are.
func TestOnlyWhatWasDeletedIsHidden(t *testing.T) {
	t.Parallel()
	cases := 2500
	if testing.Short() {
		cases = 500
	}
	shown, hidden := 0, 0
	for seed := range uint64(cases) {
		s := &simulation{
			Rand: rand.New(rand.NewPCG(seed, 0x41de)), rotas: []rota{nil}, lineages: map[int64]int64{}, patterns: map[int64]*hiddenentry.Pattern{}, series: 1,
			memberships: []span.Membership{{TermID: 1, Days: civil.Range{From: -100, To: civil.Forever}, Inherits: true}},
		}
		for range 14 {
			s.change(t)
			s.resolve(t)
			got, want := s.shownEntries(), s.expectedEntries()
			require.Equal(t, want, got, "case %d", seed)
			shown += len(want)
			s.remove(t)
		}
		hidden += len(s.hides)
	}
	t.Logf("%d entries compared, %d deleted", shown, hidden)
	require.Greater(t, shown, 100*cases, "the cases must not be mostly empty")
	require.Greater(t, hidden, cases)
}

func (s *simulation) chance(percent int) bool { return s.IntN(100) < percent }

// pattern stores a pattern and returns its id.
func (s *simulation) pattern(t *testing.T, r rota) int64 {
	id := int64(len(s.rotas))
	s.rotas = append(s.rotas, r)
	p := &schedulingv1.SchedulePattern{DayCount: proto.Int32(int32(len(r)))}
	for i, letters := range r {
		for _, letter := range []byte(letters) {
			item := menu[letter]()
			item.Day = proto.Int32(int32(i + 1))
			p.Items = append(p.Items, item)
		}
	}
	var err error
	s.patterns[id], err = hiddenentry.Compile(p)
	require.NoError(t, err)
	return id
}

func (s *simulation) anyRota() rota {
	r := make(rota, 1+s.IntN(3))
	for i := range r {
		letters := []byte("EFLNt")
		s.Shuffle(len(letters), func(a, b int) { letters[a], letters[b] = letters[b], letters[a] })
		r[i] = string(letters[:s.IntN(4)])
	}
	return r
}

func (s *simulation) anyDays() civil.Range {
	from := civil.Date(s.IntN(int(horizon)))
	return civil.Range{From: from, To: from + 2 + civil.Date(s.IntN(25))}
}

// change does one thing that a planner can do.
func (s *simulation) change(t *testing.T) {
	n := len(s.assignments)
	if n == 0 || n < 6 && s.chance(30) {
		s.create(t)
		return
	}
	a := &s.assignments[s.IntN(n)]
	switch s.IntN(8) {
	case 0:
		*a = s.assignments[n-1]
		s.assignments = s.assignments[:n-1]
	case 1, 2: // the same letters in another order, or others
		r := slices.Clone(s.rotas[a.PatternID])
		for i := range r {
			letters := []byte(r[i])
			s.Shuffle(len(letters), func(x, y int) { letters[x], letters[y] = letters[y], letters[x] })
			r[i] = string(letters)
		}
		if s.chance(50) {
			r = s.anyRota()
		}
		a.PatternID, a.DayCount, a.Offset = s.pattern(t, r), int32(len(r)), s.Int32N(3)
	case 3: // another end, which meets no other part of the lineage
		to := a.From + 1 + civil.Date(s.IntN(40))
		if !slices.ContainsFunc(s.assignments, func(b span.Assignment) bool {
			return b.ID != a.ID && b.Lineage == a.Lineage && b.From < to && b.To > a.From
		}) {
			a.To = to
		}
	case 4, 5:
		if cut := a.From + 1 + civil.Date(s.IntN(20)); cut+2 < a.To && n < 6 {
			part := *a
			s.next++
			part.ID, part.From = s.next, cut+civil.Date(s.IntN(2))
			a.To = cut
			s.lineages[part.ID] = part.Lineage
			s.assignments = append(s.assignments, part)
		}
	default:
		s.move()
	}
}

func (s *simulation) create(t *testing.T) {
	s.next++
	r, days := s.anyRota(), s.anyDays()
	a := span.Assignment{
		ID: s.next, Seq: s.next, TermID: s.Int64N(3), From: days.From, To: days.To, PatternID: s.pattern(t, r), DayCount: int32(len(r)),
		Anchor: days.From, Override: s.chance(25), Lineage: s.next, EntriesPerDay: 4,
	}
	var err error
	a.Lane, err = span.LaneFor(s.assignments, a)
	require.NoError(t, err)
	s.lineages[a.ID] = a.Lineage
	s.assignments = append(s.assignments, a)
}

// move puts the employee on another term for some days, or for all that come.
func (s *simulation) move() {
	days := s.anyDays()
	if s.chance(30) {
		days.To = civil.Forever
	}
	var list []span.Membership
	for _, m := range s.memberships {
		for _, left := range civil.AppendDifference(nil, []civil.Range{m.Days}, []civil.Range{days}) {
			list = append(list, span.Membership{TermID: m.TermID, Days: left, Inherits: true})
		}
	}
	if term := s.Int64N(3); term > 0 {
		list = append(list, span.Membership{TermID: term, Days: days, Inherits: true})
	}
	s.memberships = list
}

// resolve brings spans and hides up to date, as a propagation does.
func (s *simulation) resolve(t *testing.T) {
	in := span.Input{Assignments: s.assignments, Memberships: s.memberships, Current: s.current}
	wanted, err := span.Resolve(in)
	require.NoError(t, err)
	span.Carry(s.current, wanted, s.assignments)
	require.NoError(t, span.Number(wanted, s.assignments, func(count int32) (int64, error) {
		s.series += int64(count)
		return s.series - int64(count), nil
	}))
	s.current = slices.Clone(wanted)
	for i := range s.hides {
		s.hides[i].Slot = s.hides[i].Resolve(s.current, hiddenentry.Lookup{Lineages: s.lineages, Patterns: s.patterns})
	}
}

// eachEntry calls back for every entry that the spans generate and no item hides.
func (s *simulation) eachEntry(do func(day civil.Date, c *span.Span, ordinal int)) {
	for day := range horizon {
		for i := range s.current {
			c := &s.current[i]
			if !c.Days().Contains(day) {
				continue
			}
			letters := s.rotas[c.PatternID][rotation.Position(c.From, c.Position, day, c.DayCount)]
			for ordinal := range letters {
				slot := &hiddenentry.Slot{Lane: c.Lane, Ordinal: uint8(ordinal)}
				if !slices.ContainsFunc(s.hides, func(h hiddenentry.Hide) bool { return h.Day == day && slot.Equal(h.Slot) }) {
					do(day, c, ordinal)
				}
			}
		}
	}
}

func (s *simulation) shownEntries() []string {
	var list []string
	s.eachEntry(func(day civil.Date, c *span.Span, ordinal int) {
		letters := s.rotas[c.PatternID][rotation.Position(c.From, c.Position, day, c.DayCount)]
		list = append(list, fmt.Sprintf("%02d %d %c", day, s.lineages[c.AssignmentID], letters[ordinal]))
	})
	slices.Sort(list)
	return list
}

// remove deletes an entry that is shown, now and then.
func (s *simulation) remove(t *testing.T) {
	if s.chance(30) {
		return
	}
	pick, n := s.IntN(50), 0
	s.eachEntry(func(day civil.Date, c *span.Span, ordinal int) {
		if n++; n != pick {
			return
		}
		position := rotation.Position(c.From, c.Position, day, c.DayCount)
		s.deleted = append(s.deleted, deletion{day, s.lineages[c.AssignmentID], s.rotas[c.PatternID][position], ordinal})
		s.hides = append(s.hides, hiddenentry.Hide{
			ItemID: int64(n), Series: c.Series + int64(ordinal), Slot: &hiddenentry.Slot{Lane: c.Lane, Ordinal: uint8(ordinal)},
			Entered: hiddenentry.Entered{
				EmployeeID: 1, Day: day, LineageID: s.lineages[c.AssignmentID], PatternID: c.PatternID, CycleDay: position, Ordinal: uint8(ordinal),
			},
		})
	})
}

// expectedEntries returns the entries that the model shows.
func (s *simulation) expectedEntries() []string {
	var list []string
	for day := range horizon {
		var layers []span.Assignment
		for _, own := range []bool{false, true} {
			for _, a := range slices.SortedFunc(slices.Values(s.assignments), func(a, b span.Assignment) int {
				return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID))
			}) {
				member := own || slices.ContainsFunc(s.memberships, func(m span.Membership) bool { return m.TermID == a.TermID && m.Days.Contains(day) })
				if (a.TermID == 0) != own || !member || day < a.From || day >= a.To {
					continue
				}
				if a.Override {
					layers = nil
				}
				layers = append(layers, a)
			}
		}
		for _, a := range layers {
			r := s.rotas[a.PatternID]
			position := int(day-a.Anchor) + int(a.Offset)
			for position < 0 {
				position += len(r)
			}
			letters := r[position%len(r)]
			for index := range letters {
				gone := slices.ContainsFunc(s.deleted, func(d deletion) bool {
					return d.day == day && d.lineage == a.Lineage && partner(d.letters, d.index, letters) == index
				})
				if !gone {
					list = append(list, fmt.Sprintf("%02d %d %c", day, a.Lineage, letters[index]))
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// partner states the rule of the same shift in another way: for one letter of a day, it returns the
// index of the letter on another day, or -1. No day has a letter twice.
func partner(from string, index int, to string) int {
	pairs := map[byte]byte{}
	has := func(letter byte) bool {
		for _, k := range pairs {
			if k == letter {
				return true
			}
		}
		return false
	}
	for _, letter := range []byte(from) {
		if slices.Contains([]byte(to), letter) {
			pairs[letter] = letter
		}
	}
	byStart := func(letters string) []byte {
		return slices.SortedFunc(slices.Values([]byte(letters)), func(a, b byte) int { return cmp.Compare(hours[a][0], hours[b][0]) })
	}
	for _, i := range byStart(from) {
		for _, k := range byStart(to) {
			together := hours[i][0] < hours[k][1] && hours[k][0] < hours[i][1]
			if _, paired := pairs[i]; !paired && !has(k) && (i == 't') == (k == 't') && together {
				pairs[i] = k
			}
		}
	}
	var left, right []byte
	for _, i := range []byte(from) {
		if _, paired := pairs[i]; !paired && i != 't' {
			left = append(left, i)
		}
	}
	for _, k := range []byte(to) {
		if !has(k) && k != 't' {
			right = append(right, k)
		}
	}
	if len(left) == 1 && len(right) == 1 {
		pairs[left[0]] = right[0]
	}
	if k, paired := pairs[from[index]]; paired {
		return slices.Index([]byte(to), k)
	}
	return -1
}
