package scheduleitem

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/daylock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

// lockDays is the permission to lock and unlock days.
const lockDays = "scheduling.day_lock.write"

// lockWork has the changes of day locks. Deleted locks unlock their days before the entries change,
// and the others lock their days afterwards.
type lockWork struct {
	deps Deps
	// The locks, and the indexes of their edits.
	create, update     []*schedulingv1.DayLock
	createdBy, updates []int
	remove             []int64

	stored   map[int64]daylock.EmployeeDays // the locks to update and remove
	requests []daylock.Request              // first the created, then the updated locks
	unlocked []daylock.EmployeeDays
	locked   []*schedulingv1.DayLock // one for each request
}

func (w *lockWork) add(edit int, e *schedulingv1.ScheduleEdit) {
	changes := e.GetDayLocks()
	for _, l := range changes.GetCreate() {
		created := proto.CloneOf(l)
		if created.GetEmployee() == nil {
			created.Employee = e.GetEmployeeRef()
		}
		w.create, w.createdBy = append(w.create, created), append(w.createdBy, edit)
	}
	for _, l := range changes.GetUpdate() {
		w.update, w.updates = append(w.update, l), append(w.updates, edit)
	}
	w.remove = append(w.remove, changes.GetDelete()...)
}

// prepare checks everything that can be checked before the transaction.
func (w *lockWork) prepare(ctx context.Context, visible rowvisibility.Set) error {
	if len(w.create)+len(w.update)+len(w.remove) == 0 {
		return nil
	}
	if caller, ok := authn.From(ctx); ok && !caller.IsService() && !caller.Has(lockDays) {
		return authn.NeedsPermission(lockDays, "", "")
	}
	slices.Sort(w.remove)
	w.remove = slices.Compact(w.remove)
	seen := map[int64]bool{}
	for i, l := range w.update {
		_, removed := slices.BinarySearch(w.remove, l.GetId())
		switch {
		case l.GetId() == 0:
			return fault.Invalid(itemfault.CodeMissing, fmt.Sprintf("dayLocks.update[%d].id is missing.", i))
		case removed:
			return fault.Invalid(fault.CodeInput, fmt.Sprintf("The day lock %d cannot be both changed and deleted.", l.GetId()))
		case seen[l.GetId()]:
			return fault.Invalid(fault.CodeInput, fmt.Sprintf("The day lock %d is listed twice.", l.GetId()))
		}
		seen[l.GetId()] = true
	}
	if err := w.find(ctx, visible); err != nil {
		return err
	}
	return w.resolveRequests(ctx, visible)
}

// find reads the locks to update and remove.
func (w *lockWork) find(ctx context.Context, visible rowvisibility.Set) error {
	ids := slices.Clone(w.remove)
	for _, l := range w.update {
		ids = append(ids, l.GetId())
	}
	var err error
	if w.stored, err = daylock.Find(ctx, w.deps.Pool, ids); err != nil {
		return err
	}
	for _, id := range ids {
		lock, ok := w.stored[id]
		if ok && !visible.HasOn(lock.EmployeeID, lock.Days) {
			authn.NoteNotVisible(ctx)
			ok = false
		}
		if !ok {
			return itemfault.NotFound(itemfault.InBody, "day lock", id)
		}
		if denied := visible.RefuseOwn(lock.EmployeeID); denied != nil {
			return denied
		}
	}
	return nil
}

// resolveRequests determines the employees and days to lock. The caller must see the employee of a lock on
// all of its days.
func (w *lockWork) resolveRequests(ctx context.Context, visible rowvisibility.Set) error {
	refs := make([]*commonv1.Ref, 0, len(w.create)+len(w.update))
	for i, l := range w.create {
		if !itemdraft.IsSet(l.GetEmployee()) {
			return fault.Invalid(itemfault.CodeEmployeeMissing, fmt.Sprintf("dayLocks.create[%d].employee is missing.", i))
		}
		refs = append(refs, l.GetEmployee())
	}
	for _, l := range w.update {
		refs = append(refs, &commonv1.Ref{Id: proto.Int64(w.stored[l.GetId()].EmployeeID)})
	}
	if len(refs) == 0 {
		return nil
	}
	employees, err := w.deps.Directory.Employees(rowvisibility.OnAnyDay(ctx), refs)
	if err != nil {
		return err
	}
	for i, l := range slices.Concat(w.create, w.update) {
		path := fmt.Sprintf("dayLocks.create[%d].", i)
		if u := i - len(w.create); u >= 0 {
			path = fmt.Sprintf("dayLocks.update[%d].", u)
			if e := l.GetEmployee(); e != nil && (e.Id != nil && e.GetId() != employees[i].ID || e.Id == nil && e.GetQualifier() != employees[i].PersonNumber) {
				return itemfault.InvalidShift(path+"employee", "must be the employee of the lock %d", l.GetId())
			}
		}
		days, err := lockedPeriod(path, l)
		if err != nil {
			return err
		}
		if !visible.HasOn(employees[i].ID, days) {
			authn.NoteNotVisible(ctx)
			return projection.UnknownEmployee(refs[i])
		}
		w.requests = append(w.requests, daylock.Request{Employee: employees[i], Days: days})
	}
	return nil
}

// lockedPeriod returns the days that a lock touches.
func lockedPeriod(path string, l *schedulingv1.DayLock) (civil.Range, error) {
	p, err := itemdraft.ReadPeriod(path, l.GetStartDateTime(), l.GetEndDateTime())
	if err != nil {
		return civil.Range{}, err
	}
	last, _ := civil.DateTime{Date: p.End.Date, Seconds: p.End.Seconds - 1}.Clock()
	return civil.Through(p.Start.Date, last), nil
}

// employees returns the employees of the locks.
func (w *lockWork) employees() []int64 {
	var ids []int64
	for _, lock := range w.stored {
		ids = append(ids, lock.EmployeeID)
	}
	for i := range w.requests {
		ids = append(ids, w.requests[i].Employee.ID)
	}
	return ids
}

// unlock deletes locks. The employees are locked.
func (w *lockWork) unlock(ctx context.Context, tx pgx.Tx) error {
	w.unlocked, w.locked = nil, nil // A repeated transaction starts over.
	return w.release(ctx, tx, w.remove, nil)
}

// lock moves and creates locks.
func (w *lockWork) lock(ctx context.Context, tx pgx.Tx) error {
	moved := make([]int64, len(w.update))
	for i, l := range w.update {
		moved[i] = l.GetId()
	}
	err := w.release(ctx, tx, moved, w.requests[len(w.create):])
	if err == nil {
		w.locked, err = daylock.Lock(ctx, tx, w.requests)
	}
	return err
}

// release unlocks the days of locks, except for the days in keep.
func (w *lockWork) release(ctx context.Context, tx pgx.Tx, ids []int64, keep []daylock.Request) error {
	if len(ids) == 0 {
		return nil
	}
	now, err := daylock.Find(ctx, tx, ids)
	if err != nil {
		return err
	}
	var list []daylock.EmployeeDays
	for i, id := range ids {
		lock, ok := now[id]
		if !ok {
			return itemfault.NotFound(itemfault.InBody, "day lock", id) // It was deleted concurrently.
		}
		days := []civil.Range{lock.Days}
		if keep != nil {
			days = civil.AppendDifference(nil, days, []civil.Range{keep[i].Days})
		}
		for _, d := range days {
			list = append(list, daylock.EmployeeDays{EmployeeID: lock.EmployeeID, Days: d})
		}
	}
	unlocked, err := daylock.Unlock(ctx, tx, list)
	w.unlocked = append(w.unlocked, unlocked...)
	return err
}

// results passes each created and changed lock with the index of its edit to add.
func (w *lockWork) results(add func(edit int, l *schedulingv1.DayLock)) {
	for i, edit := range slices.Concat(w.createdBy, w.updates) {
		add(edit, w.locked[i])
	}
}
