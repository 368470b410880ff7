package authn

import (
	"context"
	"slices"
	"sync/atomic"
)

// OwnRecord is the rule of one call about the caller's own record: whether the call may write for
// the person who makes it. It is safe for concurrent use.
type OwnRecord struct {
	person    int64
	forbidden bool
	checked   atomic.Bool
}

// WithOwnRecord returns the context of a call by p with the actions of its operation. The call may
// not write to the caller's own record, unless the caller's access profile permits every action.
func WithOwnRecord(ctx context.Context, p *Principal, actions []string) context.Context {
	rule := &OwnRecord{person: p.PersonID}
	rule.forbidden = slices.ContainsFunc(actions, func(action string) bool { return !p.MayActOnOwnRecord(action) })
	return context.WithValue(ctx, ownRecordKey{}, rule)
}

// WithoutOwnRecord returns the context of a call without its rule, for looking up persons that a
// response only names.
func WithoutOwnRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownRecordKey{}, (*OwnRecord)(nil))
}

type ownRecordKey struct{}

// OwnRecordFrom returns the rule in a context, or nil.
func OwnRecordFrom(ctx context.Context) *OwnRecord {
	rule, _ := ctx.Value(ownRecordKey{}).(*OwnRecord)
	return rule
}

// Check marks the rule as checked. It returns the person whose record the call must not write; ok
// is false if there is no such person.
func (r *OwnRecord) Check() (person int64, ok bool) {
	if r == nil {
		return 0, false
	}
	r.checked.Store(true)
	return r.person, r.forbidden && r.person > 0
}

// Checked reports whether the operation called Check. The transaction of an operation that did not
// is not committed.
func (r *OwnRecord) Checked() bool { return r == nil || r.checked.Load() }
