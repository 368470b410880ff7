package person

import (
	"context"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// refuseLockouts fails the items that change when somebody may not log in whose
// user the caller may not change.
func (w *writer) refuseLockouts(ctx context.Context, items []*item) error {
	var asked []*item
	var changes []*authv1.UserChange
	today := w.reader.today()
	for _, it := range good(items) {
		if it.old == nil || len(changedLockouts([]newPerson{it.newPerson})) == 0 {
			continue
		}
		asked = append(asked, it)
		ends := false
		for _, days := range it.lockedOut() {
			ends = ends || days.To > today
		}
		changes = append(changes, &authv1.UserChange{PersonId: it.id, EndsLogIns: ends})
	}
	refused, err := w.accounts.refusedChanges(ctx, changes)
	if err != nil {
		return err
	}
	for i, it := range asked {
		it.err = refused[i]
	}
	return nil
}

// keepPowerful notes an error for those whose users the caller may not remove.
func (w *writer) keepPowerful(ctx context.Context, known map[key]*stored, failed map[key]error) error {
	var asked []key
	var changes []*authv1.UserChange
	for k, p := range known {
		if failed[k] == nil {
			asked, changes = append(asked, k), append(changes, &authv1.UserChange{PersonId: p.id, EndsLogIns: true})
		}
	}
	refused, err := w.accounts.refusedChanges(ctx, changes)
	if err != nil {
		return err
	}
	for i, k := range asked {
		if refused[i] != nil {
			failed[k] = refused[i]
		}
	}
	return nil
}
