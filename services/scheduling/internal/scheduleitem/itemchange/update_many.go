package itemchange

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleviolation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// UpdateMany replaces entries with the same ids: all or none or, with partial, the valid ones. It
// works like Update for each entry.
func (f *Editor[M]) UpdateMany(ctx context.Context, sent []M, partial bool) (*bulk.Outcome[M, M], error) {
	out, err := f.updateMany(ctx, sent, partial)
	if partial && isForbidden(err) {
		return f.oneByOne(ctx, sent, f.distinctIDs(sent), f.updateMany)
	}
	return out, err
}

func (f *Editor[M]) updateMany(ctx context.Context, sent []M, partial bool) (*bulk.Outcome[M, M], error) {
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	failed := f.distinctIDs(sent)
	employees, err := f.employeesAfter(ctx, visible, sent, failed)
	if err != nil {
		return nil, err
	}
	drafts, err := f.newDrafts(ctx, sent, employees, failed, partial)
	if err != nil {
		return nil, err
	}
	check, err := f.prepareCheck(ctx, drafts)
	if err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(sent))
	var warnings Warnings
	err = f.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		errs := make([]error, len(sent)) // A repeated transaction starts over.
		copy(errs, failed)
		stored, err := f.replaceMany(ctx, tx, visible, sent, drafts, errs, replacing{check, partial})
		if err == nil {
			warnings, err = NewWarnings(check.After(ctx, tx))
		}
		if err != nil {
			return err
		}
		copy(rows, stored)
		copy(failed, errs)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.outcome(ctx, sent, drafts, rows, failed, warnings)
}

// distinctIDs returns an error for each entry without an id, and for each duplicate id.
func (f *Editor[M]) distinctIDs(sent []M) []error {
	failed := make([]error, len(sent))
	seen := make(map[int64]bool, len(sent))
	for i, m := range sent {
		switch id := m.GetId(); {
		case id == 0:
			failed[i] = fault.Invalid(itemfault.CodeMissing, fmt.Sprintf("[%d].id is missing.", i))
		case seen[id]:
			failed[i] = fault.Invalid(fault.CodeInput, fmt.Sprintf("[%d].id: the %s %d is listed twice.", i, f.Label, id))
		default:
			seen[id] = true
		}
	}
	return failed
}

// employeesAfter returns the owner of each entry after an update: the employee in the request, or
// the current one; nil for an open shift.
func (f *Editor[M]) employeesAfter(ctx context.Context, visible rowvisibility.Set, sent []M, failed []error) ([]*projection.Employee, error) {
	employees := f.findEmployees(ctx, sent, failed)
	var ids []int64
	for i, m := range sent {
		if failed[i] == nil && m.GetEmployee() == nil {
			ids = append(ids, m.GetId())
		}
	}
	if len(ids) == 0 {
		return employees, nil
	}
	found, err := f.lookUp(ctx, f.Pool, visible, ids)
	if err != nil {
		return nil, err
	}
	current, err := f.readEmployees(ctx, found)
	if err != nil {
		return nil, err
	}
	for i, m := range sent {
		if failed[i] != nil || m.GetEmployee() != nil {
			continue
		}
		was, ok := found[m.GetId()]
		if !ok {
			failed[i] = itemfault.NotFound(itemfault.InBody, f.Label, m.GetId())
			continue
		}
		if was.denied != nil {
			failed[i] = was.denied
			continue
		}
		employees[i] = current[was.employeeID()]
	}
	return employees, nil
}

// replacing are the options of replaceMany.
type replacing struct {
	// check is informed between the locks and the change.
	check *ruleviolation.Check
	// partial stores the valid drafts if others fail.
	partial bool
}

// replaceMany stores the drafts without conflicts. Row i belongs to draft i; it is empty if the
// draft failed.
func (f *Editor[M]) replaceMany(
	ctx context.Context, tx pgx.Tx, visible rowvisibility.Set, sent []M, drafts []*itemdraft.Draft, failed []error, how replacing,
) ([]itemstore.Row, error) {
	var ids, employees []int64
	for i, m := range sent {
		if failed[i] == nil {
			ids, employees = append(ids, m.GetId()), append(employees, drafts[i].EmployeeID())
		}
	}
	old, err := f.lockEntries(ctx, tx, visible, ids, employees)
	if err == nil {
		err = how.check.Before(ctx, tx)
	}
	if err != nil {
		return nil, err
	}
	list := make([]replacement, 0, len(sent))
	at := make([]int, 0, len(sent)) // indexes in sent
	for i, m := range sent {
		if failed[i] != nil {
			continue
		}
		was, ok := old[m.GetId()]
		if failed[i] = f.checkReplaceable(ctx, m, was, ok, drafts[i]); failed[i] == nil {
			list, at = append(list, replacement{m.GetId(), was, drafts[i]}), append(at, i)
		}
	}
	conflicts, err := f.findConflicts(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	accepted, acceptedAt := list[:0], at[:0]
	for k, r := range list {
		if failed[at[k]] = conflicts[k]; conflicts[k] == nil {
			accepted, acceptedAt = append(accepted, r), append(acceptedAt, at[k])
		}
	}
	for _, err := range failed {
		if err != nil && !how.partial {
			return nil, err
		}
	}
	stored, err := f.replace(ctx, tx, accepted)
	if err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(sent))
	for k, i := range acceptedAt {
		rows[i] = stored[k]
	}
	return rows, nil
}

// checkReplaceable returns an error if the entry does not exist, has another version, or was moved
// to another employee since the draft was created.
func (f *Editor[M]) checkReplaceable(ctx context.Context, sent M, was entryState, found bool, d *itemdraft.Draft) error {
	switch {
	case !found:
		return itemfault.NotFound(itemfault.InBody, f.Label, sent.GetId())
	case was.denied != nil:
		return was.denied
	case sent.GetEmployee() == nil && was.employeeID() != d.EmployeeID():
		return itemfault.Stale(ctx, f.Label, sent.GetId(), was.version())
	}
	return itemfault.CheckVersion(ctx, f.Label, sent.GetId(), was.version(), f.Version(sent))
}
