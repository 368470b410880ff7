package rowvisibility

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// RefuseOwn returns the error for an operation that may not write to the record of a
// person, because it is the record of the caller, or of a delegator whom only the
// delegation shows to the caller; nil for all others, and for operations and access
// profiles that permit it. Operations whose contract names actions on one's own record
// call it for every employee for whom they write, before they commit.
func (s Set) RefuseOwn(id int64) *fault.Error {
	caller, refused := s.own.Check()
	switch {
	case s.own == nil || id == 0:
		return nil
	case refused && id == caller:
		return fault.Forbidden(fault.CodeOwnRecord,
			"You cannot do this to your own record. Ask somebody else who may do it, or use the operations that employees have for themselves.")
	case s.onlyDelegatorShows(id):
		return fault.Forbidden(fault.CodeOwnRecord,
			"You stand in for this person, and cannot do this to their record. Ask somebody else who may do it.")
	}
	return nil
}

// onlyDelegatorShows reports whether the caller sees a person only because that person
// delegated to them.
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

// WritesForNobody notes that a call writes for nobody as yet: nobody is named whose own
// record it could be, as of an open shift.
func WritesForNobody(ctx context.Context) { authn.OwnRecordFrom(ctx).Check() }

// RefuseOwn is [Set.RefuseOwn] for operations that need nothing else of the Set. Call it
// without persons where nobody is left for whom to write.
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
