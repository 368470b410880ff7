package schedulechange

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// change is an entry of an employee at two instants, as encoded messages. A missing entry is nil.
type change struct {
	employee      int32 // index of the person
	before, after []byte
}

// kinds are the kinds of entries that can change, with the function that adds a change to a
// snapshot.
var kinds = []struct {
	selected request.Selection
	kind     window.Kind
	put      func(*schedulingv1.ScheduleChangeSnapshot, *change) error
}{
	{request.SelectShifts, window.KindShift, putShift},
	{request.SelectPayCodeEdits, window.KindPayCodeEdit, putPayCodeEdit},
	{request.SelectLeaveEdits, window.KindLeaveEdit, putLeaveEdit},
	{request.SelectTags, window.KindTag, putTag},
}

// compare returns the differences of the same persons and days, by ascending employee. Changes of a
// kind are in the order of the entries' times.
func compare(selected request.Selection, before, after *window.Window) ([]*schedulingv1.ScheduleChangeSnapshot, error) {
	persons := after.Persons
	snapshots := make([]*schedulingv1.ScheduleChangeSnapshot, len(persons))
	snapshot := func(i int32) (*schedulingv1.ScheduleChangeSnapshot, error) {
		if snapshots[i] == nil {
			employee, err := decodeRef(&persons[i])
			if err != nil {
				return nil, err
			}
			snapshots[i] = &schedulingv1.ScheduleChangeSnapshot{Employee: employee}
		}
		return snapshots[i], nil
	}
	size := 0
	for _, k := range kinds {
		if selected&k.selected == 0 {
			continue
		}
		changed, err := changes(before, after, k.kind)
		if err != nil {
			return nil, fmt.Errorf("schedulechange: %w", err)
		}
		for _, c := range changed {
			size += len(c.before) + len(c.after)
			if err := encoding.CheckSize(size); err != nil {
				return nil, err
			}
			s, err := snapshot(c.employee)
			if err == nil {
				err = k.put(s, &c)
			}
			if err != nil {
				return nil, fmt.Errorf("schedulechange: employee %d: %w", persons[c.employee].ID, err)
			}
		}
	}
	if selected&request.SelectDayLocks != 0 {
		for i := range persons {
			changed := changedLocks(&persons[i], before, after)
			if changed == nil {
				continue
			}
			s, err := snapshot(int32(i))
			if err != nil {
				return nil, err
			}
			for _, list := range [][]*schedulingv1.ChangedDayLock{changed.GetCreate(), changed.GetUpdate(), changed.GetDelete()} {
				for _, l := range list {
					for _, lock := range []*schedulingv1.DayLock{l.GetBefore(), l.GetAfter()} {
						if lock != nil {
							lock.Employee = s.GetEmployee()
						}
					}
				}
			}
			s.DayLocks = changed
		}
	}
	return slices.DeleteFunc(snapshots, func(s *schedulingv1.ScheduleChangeSnapshot) bool { return s == nil }), nil
}

// decodeRef decodes the length-prefixed reference of a person.
func decodeRef(p *window.Person) (*commonv1.Ref, error) {
	_, n := protowire.ConsumeVarint(p.Ref)
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	out := &commonv1.Ref{}
	return out, proto.Unmarshal(p.Ref[n:], out)
}

// changes returns the differences of the entries of a kind.
func changes(before, after *window.Window, k window.Kind) ([]change, error) {
	type key struct {
		employee int32
		id       int64
	}
	was := make(map[key]*window.Entry, len(before.Entries[k]))
	for i := range before.Entries[k] {
		e := &before.Entries[k][i]
		was[key{e.Employee, e.ID}] = e
	}
	var out []change
	var starts []int64
	add := func(b, a *window.Entry) (err error) {
		e := cmp.Or(a, b)
		c := change{employee: e.Employee}
		if b != nil {
			c.before, err = before.Message(b)
		}
		if a != nil && err == nil {
			c.after, err = after.Message(a)
		}
		out, starts = append(out, c), append(starts, e.Start)
		return err
	}
	for i := range after.Entries[k] {
		e := &after.Entries[k][i]
		at := key{e.Employee, e.ID}
		b := was[at]
		delete(was, at)
		same, err := isUnchanged(before, b, after, e)
		if err == nil && !same {
			err = add(b, e)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range before.Entries[k] {
		e := &before.Entries[k][i]
		if was[key{e.Employee, e.ID}] == nil {
			continue
		}
		if err := add(e, nil); err != nil {
			return nil, err
		}
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(starts[a], starts[b]) })
	sorted := make([]change, len(out))
	for i, at := range order {
		sorted[i] = out[at]
	}
	return sorted, nil
}

// isUnchanged reports whether an entry shows the same as its earlier state b, which is nil if it
// did not exist. Versions are ignored: the version of a generated entry grows whenever its pattern
// is applied again.
func isUnchanged(before *window.Window, b *window.Entry, after *window.Window, e *window.Entry) (bool, error) {
	if b == nil {
		return false, nil
	}
	was, now := *b, *e
	was.Version, now.Version = 0, 0
	wasText, err := before.Message(&was)
	if err != nil {
		return false, err
	}
	text, err := after.Message(&now)
	return bytes.Equal(wasText, text), err
}

// changedLocks returns the differences of the locked days of a person, or nil.
func changedLocks(p *window.Person, before, after *window.Window) *schedulingv1.ChangedDayLocks {
	now, was := employeeLocks(p.ID, after), employeeLocks(p.ID, before)
	out := &schedulingv1.ChangedDayLocks{}
	for _, l := range now {
		at := slices.IndexFunc(was, func(b window.Lock) bool { return b.ID == l.ID })
		switch {
		case at < 0:
			out.Create = append(out.Create, &schedulingv1.ChangedDayLock{After: lockMessage(l)})
		case was[at].Days != l.Days:
			out.Update = append(out.Update, &schedulingv1.ChangedDayLock{Before: lockMessage(was[at]), After: lockMessage(l)})
		}
	}
	for _, b := range was {
		if !slices.ContainsFunc(now, func(l window.Lock) bool { return b.ID == l.ID }) {
			out.Delete = append(out.Delete, &schedulingv1.ChangedDayLock{Before: lockMessage(b)})
		}
	}
	if len(out.Create)+len(out.Update)+len(out.Delete) == 0 {
		return nil
	}
	return out
}

// employeeLocks returns the locks of an employee that touch the days. All locks are in the order of
// employees.
func employeeLocks(employeeID int64, w *window.Window) []window.Lock {
	at, _ := slices.BinarySearchFunc(w.Locks, employeeID, func(l window.Lock, id int64) int { return cmp.Compare(l.EmployeeID, id) })
	var out []window.Lock
	for ; at < len(w.Locks) && w.Locks[at].EmployeeID == employeeID; at++ {
		if w.Locks[at].Days.Overlaps(w.Days) {
			out = append(out, w.Locks[at])
		}
	}
	return out
}

// lockMessage returns a lock as in schedules, but without its employee.
func lockMessage(l window.Lock) *schedulingv1.DayLock {
	return &schedulingv1.DayLock{
		Id: proto.Int64(l.ID), StartDateTime: l.Days.From.At(0).String(), EndDateTime: l.Days.To.At(0).String(),
		Generated: proto.Bool(false), Posted: proto.Bool(false), Deleted: proto.Bool(false), Version: proto.Int64(1),
	}
}
