package itemchange

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// UpdateMany replaces the entries with the ids of those that were sent: all or
// none, or, with partial, those that can be. Each is as update would do it.
func (f *Family[M]) UpdateMany(ctx context.Context, sent []M, partial bool) (*bulk.Outcome[M, M], error) {
	tenantID := tenant.Of(ctx)
	visible, err := f.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	failed := f.distinctIDs(sent)
	employees, err := f.employeesAfter(ctx, tenantID, visible, sent, failed)
	if err != nil {
		return nil, err
	}
	drafts, err := f.drafts(ctx, tenantID, sent, employees, failed, partial)
	if err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(sent))
	err = f.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		refused := make([]error, len(sent)) // a repeated run starts anew
		copy(refused, failed)
		stored, err := f.replaceMany(ctx, tx, tenantID, visible, sent, drafts, refused, partial)
		if err != nil {
			return err
		}
		copy(rows, stored)
		copy(failed, refused)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f.outcome(sent, drafts, rows, failed)
}

// distinctIDs returns for each entry that was sent why it names none to replace:
// it has no id, or that of an earlier one.
func (f *Family[M]) distinctIDs(sent []M) []error {
	failed := make([]error, len(sent))
	seen := make(map[int64]bool, len(sent))
	for i, m := range sent {
		switch id := m.GetId(); {
		case id == 0:
			failed[i] = fault.Invalid(itemfault.CodeMissing, fmt.Sprintf("[%d].id is missing.", i))
		case seen[id]:
			failed[i] = fault.Invalid(fault.CodeInput, fmt.Sprintf("[%d].id: the %s %d comes twice.", i, f.Label, id))
		default:
			seen[id] = true
		}
	}
	return failed
}

// employeesAfter returns whose entries they are after an update: those that are
// named, or those who have them; nil for an open shift.
func (f *Family[M]) employeesAfter(ctx context.Context, tenantID int64, visible rowvisibility.Set, sent []M, failed []error) ([]*projection.Employee, error) {
	employees := f.employeesNamed(ctx, sent, failed)
	var ids []int64
	for i, m := range sent {
		if failed[i] == nil && m.GetEmployee() == nil {
			ids = append(ids, m.GetId())
		}
	}
	if len(ids) == 0 {
		return employees, nil
	}
	found, err := f.lookUp(ctx, f.Pool, tenantID, visible, ids)
	if err != nil {
		return nil, err
	}
	those, err := f.employeesOf(ctx, found)
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
		if was.refused != nil {
			failed[i] = was.refused
			continue
		}
		employees[i] = those[was.employeeID()]
	}
	return employees, nil
}

// replaceMany stores the drafts that nothing stands against. The rows belong to
// the drafts; what failed has none.
func (f *Family[M]) replaceMany(
	ctx context.Context, tx pgx.Tx, tenantID int64, visible rowvisibility.Set, sent []M, drafts []*itemdraft.Draft, failed []error, partial bool,
) ([]itemstore.Row, error) {
	var ids, employees []int64
	for i, m := range sent {
		if failed[i] == nil {
			ids, employees = append(ids, m.GetId()), append(employees, drafts[i].EmployeeID())
		}
	}
	old, err := f.lockEntries(ctx, tx, tenantID, visible, ids, employees)
	if err != nil {
		return nil, err
	}
	list := make([]replacement, 0, len(sent))
	at := make([]int, 0, len(sent)) // where they stand in sent
	for i, m := range sent {
		if failed[i] != nil {
			continue
		}
		was, ok := old[m.GetId()]
		if failed[i] = f.fits(ctx, m, was, ok, drafts[i]); failed[i] == nil {
			list, at = append(list, replacement{m.GetId(), was, drafts[i]}), append(at, i)
		}
	}
	refused, err := f.refusals(ctx, tx, tenantID, list)
	if err != nil {
		return nil, err
	}
	kept, keptAt := list[:0], at[:0]
	for k, r := range list {
		if failed[at[k]] = refused[k]; refused[k] == nil {
			kept, keptAt = append(kept, r), append(keptAt, at[k])
		}
	}
	for _, err := range failed {
		if err != nil && !partial {
			return nil, err
		}
	}
	stored, err := f.replace(ctx, tx, tenantID, kept)
	if err != nil {
		return nil, err
	}
	rows := make([]itemstore.Row, len(sent))
	for k, i := range keptAt {
		rows[i] = stored[k]
	}
	return rows, nil
}

// fits returns why an entry cannot be replaced by what was sent: it is not there,
// has another version, or went to somebody else since the draft was made.
func (f *Family[M]) fits(ctx context.Context, sent M, was known, found bool, d *itemdraft.Draft) error {
	switch {
	case !found:
		return itemfault.NotFound(itemfault.InBody, f.Label, sent.GetId())
	case was.refused != nil:
		return was.refused
	case sent.GetEmployee() == nil && was.employeeID() != d.EmployeeID():
		return itemfault.Stale(ctx, f.Label, sent.GetId(), was.version())
	}
	return itemfault.CheckVersion(ctx, f.Label, sent.GetId(), was.version(), f.Version(sent))
}
