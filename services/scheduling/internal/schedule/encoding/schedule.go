package encoding

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// maxResponseBytes limits the size of a response, to the size that a service may return. Larger
// responses are rejected before they are built.
var maxResponseBytes = client.DefaultSizes().MaxResponse

// Encode writes the window as the fields of a Schedule. Each selected part has a list, even if it
// is empty. If the caller accepts parts, Encode sends the beginning of long lists ahead and returns
// the rest.
func Encode(ctx context.Context, q *request.Query, b *window.Window) ([]byte, error) {
	w := &writer{MessageWriter: window.NewMessageWriter(b)}
	lists := []struct {
		part    request.Selection
		field   protowire.Number
		entries []window.Entry
		other   []byte // the encoded items of a list without entries
	}{
		{part: request.SelectShifts, field: fieldShifts, entries: b.Entries[window.KindShift]},
		{part: request.SelectOpenShifts, field: fieldOpenShifts, entries: b.Open},
		{part: request.SelectOpenSummary, field: fieldOpenSummary},
		{part: request.SelectPayCodeEdits, field: fieldPayCodeEdits, entries: b.Entries[window.KindPayCodeEdit]},
		{part: request.SelectLeaveEdits, field: fieldLeaveEdits, entries: b.Entries[window.KindLeaveEdit]},
		{part: request.SelectAvailabilities, field: fieldAvailabilities, entries: b.Entries[window.KindAvailability]},
		{part: request.SelectHolidays, field: fieldHolidays},
		{part: request.SelectDayLocks, field: fieldDayLocks},
		{part: request.SelectTags, field: fieldTags, entries: b.Entries[window.KindTag]},
		{part: request.SelectDays, field: fieldDays},
		{part: request.SelectEmployees, field: fieldEmployees},
		{part: request.SelectJobs, field: fieldJobs},
	}
	total := 0
	for i := range lists {
		l := &lists[i]
		if q.Selected&l.part == 0 {
			continue
		}
		switch l.field {
		case fieldOpenSummary:
			l.other = w.openSummary()
		case fieldDayLocks:
			l.other = w.dayLocks()
		case fieldHolidays:
			if size := total + w.holidaySize(); size > maxResponseBytes {
				return nil, tooLarge(size)
			}
			l.other = w.scheduledHolidays()
		case fieldDays:
			l.other = w.scheduleDays()
		case fieldEmployees:
			l.other = w.employees()
		case fieldJobs:
			l.other = w.ExpandedJobs
		default:
			sortEntries(l.entries, q.Orders, b.Persons)
			if err := w.Prepare(l.entries); err != nil {
				return nil, err
			}
		}
		total += 1 + protowire.SizeBytes(len(l.other)+w.listSize(l.entries))
	}
	if total > maxResponseBytes {
		return nil, tooLarge(total)
	}
	if parts.Requested(ctx) {
		w.send = func(fields []byte) ([]byte, error) { return parts.Send(ctx, fields) }
	} else {
		w.Out = make([]byte, 0, total)
	}
	for i := range lists {
		l := &lists[i]
		if q.Selected&l.part == 0 {
			continue
		}
		if err := w.appendList(l.field, l.entries, l.other); err != nil {
			return nil, err
		}
	}
	return w.Out, nil
}

// CheckSize rejects a response that exceeds the limit.
func CheckSize(size int) error {
	if size > maxResponseBytes {
		return tooLarge(size)
	}
	return nil
}

func tooLarge(size int) error {
	return fault.TooLarge(fault.CodeTooLarge, fmt.Sprintf(
		"The response would have %d bytes, more than the allowed %d. Ask for fewer employees or days.", size, maxResponseBytes))
}

// openSummary counts the open shifts of each day and job.
func (w *writer) openSummary() []byte {
	type count struct {
		day    civil.Date
		job    []byte
		shifts int
	}
	counts := make([]count, 0, len(w.Open))
	for i := range w.Open {
		e := &w.Open[i]
		counts = append(counts, count{day: e.Day, job: e.Template.FirstJob()})
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
	out := appendVarint(nil, summaryTotal, uint64(len(w.Open)))
	for _, c := range merged {
		message := appendText(nil, countDate, c.day.Append(nil))
		message = appendVarint(message, countShifts, uint64(c.shifts))
		if c.job != nil {
			message = appendText(message, countJob, c.job)
		}
		out = appendText(out, summaryCounts, message)
	}
	return out
}

// dayLocks encodes the locks that touch the window.
func (w *writer) dayLocks() []byte {
	var out, message []byte
	at := 0
	for _, lock := range w.Locks {
		if !lock.Days.Overlaps(w.Days) {
			continue
		}
		for w.Persons[at].ID != lock.EmployeeID {
			at++
		}
		message = appendVarint(message[:0], lockID, uint64(lock.ID))
		message = protowire.AppendTag(message, lockEmployee, protowire.BytesType)
		message = append(message, w.Persons[at].Ref...)
		message = appendText(message, lockStart, lock.Days.From.At(0).Append(nil))
		message = appendText(message, lockEnd, lock.Days.To.At(0).Append(nil))
		for _, flag := range lockFlags {
			message = appendVarint(message, flag, 0)
		}
		message = appendVarint(message, lockVersion, 1)
		out = appendText(out, lockItems, message)
	}
	return out
}

// Flags of a day.
const (
	hasShift = 1 << iota
	hasPayCodeEdit
)

// scheduleDays encodes a day for each employee, in order of the days.
func (w *writer) scheduleDays() []byte {
	days := w.Days.Days()
	has := make([]uint8, len(w.Persons)*days)
	mark := func(entries []window.Entry, flag uint8) {
		for i := range entries {
			e := &entries[i]
			last := e.Day
			if e.Template.Kind == window.KindPayCodeEdit {
				last = e.Day.AddDays(int(e.Template.End-1) / civil.SecondsPerDay)
			}
			for day := max(e.Day, w.Days.From); day <= min(last, w.Days.To-1); day++ {
				has[int(e.Employee)*days+int(day-w.Days.From)] |= flag
			}
		}
	}
	mark(w.Entries[window.KindShift], hasShift)
	mark(w.Entries[window.KindPayCodeEdit], hasPayCodeEdit)
	size := 0
	for i := range w.Persons {
		size += days * (1 + protowire.SizeBytes(scheduleDaySize(&w.Persons[i])))
	}
	out := make([]byte, 0, size)
	order, holidays := requestOrder(w.Persons), w.isHoliday()
	text := make([]byte, 0, dateLen)
	for day := range days {
		holiday := uint64(0)
		if holidays[day] {
			holiday = 1
		}
		text = w.Days.From.AddDays(day).Append(text[:0])
		for _, i := range order {
			p := &w.Persons[i]
			flags := has[int(i)*days+day]
			out = protowire.AppendTag(out, dayItems, protowire.BytesType)
			out = protowire.AppendVarint(out, uint64(scheduleDaySize(p)))
			out = protowire.AppendTag(out, dayEmployee, protowire.BytesType)
			out = append(out, p.Ref...)
			out = appendText(out, dayDay, text)
			out = appendVarint(out, dayHasShift, uint64(flags&hasShift))
			out = appendVarint(out, dayHasPayCodeEdit, uint64(flags&hasPayCodeEdit)/hasPayCodeEdit)
			out = appendVarint(out, dayHasHoliday, holiday)
		}
	}
	return out
}

// dateLen is the length of a date, for all years that schedules support.
const dateLen = len("2006-01-02")

func scheduleDaySize(p *window.Person) int { return 1 + len(p.Ref) + 1 + 1 + dateLen + 3*2 }

func (w *writer) employees() []byte {
	size := 0
	for i := range w.Persons {
		size += 1 + len(w.Persons[i].Ref)
	}
	out := make([]byte, 0, size)
	for _, i := range requestOrder(w.Persons) {
		out = protowire.AppendTag(out, employeeItems, protowire.BytesType)
		out = append(out, w.Persons[i].Ref...)
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
