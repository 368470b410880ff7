package schedule

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// Numbers of the fields of Schedule.
const (
	answerShifts = iota + 1
	answerOpenShifts
	answerOpenSummary
	answerPayCodeEdits
	answerLeaveEdits
	answerAvailabilities
	answerHolidays
	answerDayLocks
	answerTags
	answerDays
	answerEmployees
	answerJobs
)

// mostAnswerBytes bounds an answer, which is refused before it is put
// together. It is what the edge takes.
const mostAnswerBytes = 64 << 20

// writeAnswer writes the book as the fields of a Schedule, with a list, perhaps
// empty, for each selected part. When the caller takes parts, it sends those of
// long lists ahead and returns the rest.
func writeAnswer(ctx context.Context, q *query, b *book) ([]byte, error) {
	w := &writer{book: b, dates: datesOf(b.days)}
	lists := []struct {
		part    selection
		field   protowire.Number
		entries []entry
		other   []byte // a list that is not made of entries
	}{
		{part: selectShifts, field: answerShifts, entries: b.entries[kindShift]},
		{part: selectOpenShifts, field: answerOpenShifts, entries: b.open},
		{part: selectOpenSummary, field: answerOpenSummary},
		{part: selectPayCodeEdits, field: answerPayCodeEdits, entries: b.entries[kindPayCodeEdit]},
		{part: selectLeaveEdits, field: answerLeaveEdits, entries: b.entries[kindLeaveEdit]},
		{part: selectAvailabilities, field: answerAvailabilities, entries: b.entries[kindAvailability]},
		{part: selectHolidays, field: answerHolidays},
		{part: selectDayLocks, field: answerDayLocks},
		{part: selectTags, field: answerTags, entries: b.entries[kindTag]},
		{part: selectDays, field: answerDays},
		{part: selectEmployees, field: answerEmployees},
		{part: selectJobs, field: answerJobs},
	}
	total := 0
	for i := range lists {
		l := &lists[i]
		if q.selected&l.part == 0 {
			continue
		}
		switch l.field {
		case answerOpenSummary:
			l.other = w.openSummary()
		case answerDayLocks:
			l.other = w.dayLocks()
		case answerHolidays:
			if size := total + w.holidaySize(); size > mostAnswerBytes {
				return nil, answerTooLarge(size)
			}
			l.other = w.scheduledHolidays()
		case answerDays:
			l.other = w.scheduleDays()
		case answerEmployees:
			l.other = w.employees()
		default:
			sortEntries(l.entries, q.orders, b.persons)
		}
		total += 1 + protowire.SizeBytes(len(l.other)+w.listSize(l.entries))
	}
	if total > mostAnswerBytes {
		return nil, answerTooLarge(total)
	}
	if rpc.TakesParts(ctx) {
		w.send = func(fields []byte) ([]byte, error) { return rpc.SendPart(ctx, fields) }
	} else {
		w.out = make([]byte, 0, total)
	}
	for i := range lists {
		l := &lists[i]
		if q.selected&l.part == 0 {
			continue
		}
		if err := w.list(l.field, l.entries, l.other); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

func answerTooLarge(size int) error {
	return fault.TooLarge(fault.CodeTooLarge, fmt.Sprintf(
		"The answer would have %d bytes, more than the allowed %d. Ask for fewer employees or days.", size, mostAnswerBytes))
}

// openSummary counts the open shifts of each day and job.
func (w *writer) openSummary() []byte {
	type count struct {
		day    civil.Date
		job    []byte
		shifts int
	}
	counts := make([]count, 0, len(w.open))
	for i := range w.open {
		e := &w.open[i]
		counts = append(counts, count{day: e.day, job: nestedValue(e.template.sections[2].text, jobPaths[kindShift]...)})
	}
	slices.SortFunc(counts, func(a, b count) int {
		return cmp.Or(cmp.Compare(a.day, b.day), bytes.Compare(a.job, b.job))
	})
	merged := counts[:0]
	for _, c := range counts {
		if last := len(merged) - 1; last < 0 || merged[last].day != c.day || !bytes.Equal(merged[last].job, c.job) {
			merged = append(merged, c)
		}
		merged[len(merged)-1].shifts++
	}
	out := appendVarint(nil, 1, uint64(len(w.open)))
	for _, c := range merged {
		message := appendText(nil, 1, c.day.Append(nil))
		message = appendVarint(message, 2, uint64(c.shifts))
		if c.job != nil {
			message = appendText(message, 3, c.job)
		}
		out = appendText(out, 2, message)
	}
	return out
}

// dayLocks lists the locks that touch the window.
func (w *writer) dayLocks() []byte {
	var out, message []byte
	at := 0
	for _, lock := range w.locks {
		if !lock.days.Overlaps(w.days) {
			continue
		}
		for w.persons[at].id != lock.employeeID {
			at++
		}
		message = appendVarint(message[:0], 1, uint64(lock.id))
		message = protowire.AppendTag(message, 2, protowire.BytesType)
		message = append(message, w.persons[at].ref...)
		message = appendText(message, 3, lock.days.From.At(0).Append(nil))
		message = appendText(message, 4, lock.days.To.At(0).Append(nil))
		for _, flag := range []protowire.Number{5, 6, 7} {
			message = appendVarint(message, flag, 0)
		}
		message = appendVarint(message, 8, 1)
		out = appendText(out, 1, message)
	}
	return out
}

// What a day has.
const (
	hasShift = 1 << iota
	hasPayCodeEdit
)

// scheduleDays lists every employee on every day, by day.
func (w *writer) scheduleDays() []byte {
	days := w.days.Days()
	has := make([]uint8, len(w.persons)*days)
	mark := func(entries []entry, what uint8) {
		for i := range entries {
			e := &entries[i]
			last := e.day
			if e.template.kind == kindPayCodeEdit {
				last = e.day.AddDays(int(e.template.end-1) / civil.SecondsPerDay)
			}
			for day := max(e.day, w.days.From); day <= min(last, w.days.To-1); day++ {
				has[int(e.employee)*days+int(day-w.days.From)] |= what
			}
		}
	}
	mark(w.entries[kindShift], hasShift)
	mark(w.entries[kindPayCodeEdit], hasPayCodeEdit)
	size := 0
	for i := range w.persons {
		size += days * (1 + protowire.SizeBytes(scheduleDaySize(&w.persons[i])))
	}
	out := make([]byte, 0, size)
	order, holidays := asAsked(w.persons), w.isHoliday()
	for day := range days {
		holiday := uint64(0)
		if holidays[day] {
			holiday = 1
		}
		text := w.dates.of(w.days.From.AddDays(day))
		for _, i := range order {
			p := &w.persons[i]
			flags := has[int(i)*days+day]
			out = protowire.AppendTag(out, 1, protowire.BytesType)
			out = protowire.AppendVarint(out, uint64(scheduleDaySize(p)))
			out = protowire.AppendTag(out, 1, protowire.BytesType)
			out = append(out, p.ref...)
			out = appendText(out, 2, text)
			out = appendVarint(out, 3, uint64(flags&hasShift))
			out = appendVarint(out, 4, uint64(flags&hasPayCodeEdit)/hasPayCodeEdit)
			out = appendVarint(out, 5, holiday)
		}
	}
	return out
}

func scheduleDaySize(p *person) int { return 1 + len(p.ref) + 1 + 1 + dateLen + 3*2 }

func (w *writer) employees() []byte {
	size := 0
	for i := range w.persons {
		size += 1 + len(w.persons[i].ref)
	}
	out := make([]byte, 0, size)
	for _, i := range asAsked(w.persons) {
		out = protowire.AppendTag(out, 1, protowire.BytesType)
		out = append(out, w.persons[i].ref...)
	}
	return out
}

func appendText(dst []byte, field protowire.Number, value []byte) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return protowire.AppendBytes(dst, value)
}

func appendVarint(dst []byte, field protowire.Number, value uint64) []byte {
	dst = protowire.AppendTag(dst, field, protowire.VarintType)
	return protowire.AppendVarint(dst, value)
}
