package authn

import (
	"context"
	"slices"
	"sync/atomic"
)

// OwnRecord is the rule of one call about the record of its caller: whether the call may
// write for the person who makes it. It is safe for concurrent use.
type OwnRecord struct {
	person  int64
	refused bool
	checked atomic.Bool
}

// WithOwnRecord returns the context of a call by p that takes actions which callers may
// not take on their own record, unless their access profile permits every one of them.
func WithOwnRecord(ctx context.Context, p *Principal, actions []string) context.Context {
	rule := &OwnRecord{person: p.PersonID}
	rule.refused = slices.ContainsFunc(actions, func(action string) bool { return !p.MayActOnOwnRecord(action) })
	return context.WithValue(ctx, ownRecordKey{}, rule)
}

// WithoutOwnRecord returns the context of a call without its rule, to look up persons whom
// a response only names.
func WithoutOwnRecord(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownRecordKey{}, (*OwnRecord)(nil))
}

type ownRecordKey struct{}

// OwnRecordOf returns the rule that a context carries, or nil.
func OwnRecordOf(ctx context.Context) *OwnRecord {
	rule, _ := ctx.Value(ownRecordKey{}).(*OwnRecord)
	return rule
}

// Check notes that the operation looked at whose record it writes, and returns the person
// whose own record the call must not write; ok is false when there is no such person.
func (r *OwnRecord) Check() (person int64, ok bool) {
	if r == nil {
		return 0, false
	}
	r.checked.Store(true)
	return r.person, r.refused && r.person > 0
}

// Checked reports whether the operation looked at whose record it writes. A transaction
// that nobody checked is not committed.
func (r *OwnRecord) Checked() bool { return r == nil || r.checked.Load() }
