package writer

import (
	"context"

	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/account"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// refuseLockouts fails the items that change the lockout days of a person whose user the
// caller may not change.
func (w *Writer) refuseLockouts(ctx context.Context, items []*store.Item) error {
	var asked []*store.Item
	var changes []*authv1.UserChange
	today := w.reader.Today(ctx)
	for _, it := range store.Valid(items) {
		if it.Old == nil || len(account.ChangesLockout([]store.Change{it.Change})) == 0 {
			continue
		}
		asked = append(asked, it)
		ends := false
		for _, days := range it.LockedOutDays() {
			ends = ends || days.To > today
		}
		changes = append(changes, &authv1.UserChange{PersonId: it.ID, EndsLogIns: ends})
	}
	refused, err := w.accounts.CheckChanges(ctx, changes)
	if err != nil {
		return err
	}
	for i, it := range asked {
		it.Err = refused[i]
	}
	return nil
}

// failUserDeletions sets an error for persons whose users the caller may not remove.
func (w *Writer) failUserDeletions(ctx context.Context, known map[store.Key]*store.Person, failed map[store.Key]error) error {
	var asked []store.Key
	var changes []*authv1.UserChange
	for k, p := range known {
		if failed[k] == nil {
			asked, changes = append(asked, k), append(changes, &authv1.UserChange{PersonId: p.ID, EndsLogIns: true})
		}
	}
	refused, err := w.accounts.CheckChanges(ctx, changes)
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
