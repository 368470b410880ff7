// Package reflist reads lists of references in requests: the objects that a list names by their
// ids, by their qualifiers or by refs.
package reflist

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Lists are the lists by which a message of a request names objects.
type Lists interface {
	GetIds() []int64
	GetQualifiers() []string
	GetRefs() []*commonv1.Ref
}

// CountKinds returns how many of the lists have items. Persistent ids count as well, where a message has
// a list of them.
func CountKinds(l Lists) int {
	persistent, ok := l.(interface{ GetPersistentIds() []string })
	return CountTrue(len(l.GetIds()) > 0, len(l.GetQualifiers()) > 0, len(l.GetRefs()) > 0,
		ok && len(persistent.GetPersistentIds()) > 0)
}

// AtMostOne returns the items of the only list that has items, or nil. It refuses a message in which
// several lists have items with a code; path is the position of the message in the request.
func AtMostOne(l Lists, path, code string) ([]*commonv1.Ref, error) {
	if CountKinds(l) <= 1 {
		return Refs(l), nil
	}
	kinds := "ids, qualifiers and refs"
	if _, ok := l.(interface{ GetPersistentIds() []string }); ok {
		kinds = "ids, qualifiers, persistentIds and refs"
	}
	return nil, fault.Invalid(code, path+" takes only one of "+kinds+".")
}

// Len returns how many items the lists have together.
func Len(l Lists) int { return len(l.GetIds()) + len(l.GetQualifiers()) + len(l.GetRefs()) }

// Refs returns the items of all lists as refs: first the refs, then the ids, then the qualifiers.
func Refs(l Lists) []*commonv1.Ref {
	refs := slices.Clip(l.GetRefs())
	for _, id := range l.GetIds() {
		refs = append(refs, &commonv1.Ref{Id: &id})
	}
	for _, name := range l.GetQualifiers() {
		refs = append(refs, &commonv1.Ref{Qualifier: &name})
	}
	return refs
}

// CountTrue returns how many of the conditions hold, for requests that take one of several
// properties.
func CountTrue(conditions ...bool) (n int) {
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}
