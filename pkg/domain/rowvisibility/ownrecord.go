package rowvisibility

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// RefuseOwn returns an error if the operation may not write to the record of a person, because it
// is the caller's own record, or the record of a delegator whom the caller sees only through the
// delegation. It returns nil for all other persons, and for operations and access profiles that
// permit such writes. Operations whose contract names actions on one's own record must call it for
// every employee that they write for, before they commit.
func (s Set) RefuseOwn(id int64) *fault.Error {
	caller, refused := s.own.Check()
	switch {
	case s.own == nil || id == 0:
		return nil
	case refused && id == caller:
		return fault.Forbidden(fault.CodeOwnRecord,
			"You cannot do this to your own record. Ask another user who has the permission, or use the operations for employees.")
	case s.onlyDelegatorShows(id):
		return fault.Forbidden(fault.CodeOwnRecord,
			"You stand in for this person, so you cannot do this to their record. Ask another user who has the permission.")
	}
	return nil
}

// onlyDelegatorShows reports whether the caller sees a person only through a delegation of that
// person.
func (s Set) onlyDelegatorShows(id int64) bool {
	if s.has(id) {
		return false
	}
	own := false
	for _, d := range s.delegated {
		if d.Delegator == id {
			own = true
		} else if d.set.has(id) {
			return false
		}
	}
	return own
}

// WritesForNobody marks the check as done for a call that writes for no employee yet, such as for
// an open shift.
func WritesForNobody(ctx context.Context) { authn.OwnRecordFrom(ctx).Check() }

// RefuseOwn is [Set.RefuseOwn] for operations that do not need the Set otherwise. Call it without
// ids if no employee is left to write for.
func (r *Rules) RefuseOwn(ctx context.Context, ids ...int64) error {
	if authn.OwnRecordFrom(ctx) == nil {
		return nil
	}
	visible, err := r.Visible(ctx)
	if err != nil {
		return err
	}
	WritesForNobody(ctx)
	for _, id := range ids {
		if refused := visible.RefuseOwn(id); refused != nil {
			return refused
		}
	}
	return nil
}
