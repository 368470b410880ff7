// Package reflist reads lists of references in requests: the objects that a list names by their
// ids, by their qualifiers or by refs.
package reflist

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Lists are the lists of objects in a message of a request.
type Lists interface {
	GetIds() []int64
	GetQualifiers() []string
	GetRefs() []*commonv1.Ref
}

// CountKinds returns how many of the lists have items, including a list of persistent ids if the
// message has one.
func CountKinds(l Lists) int {
	persistent, ok := l.(interface{ GetPersistentIds() []string })
	return CountTrue(len(l.GetIds()) > 0, len(l.GetQualifiers()) > 0, len(l.GetRefs()) > 0,
		ok && len(persistent.GetPersistentIds()) > 0)
}

// AtMostOne returns the items of the only list that has items, or nil. It returns an error with the
// code if several lists have items; path is the position of the message in the request.
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

// Len returns the total number of items of the lists.
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

// CountTrue returns the number of true conditions, for requests that accept one of several
// properties.
func CountTrue(conditions ...bool) (n int) {
	for _, holds := range conditions {
		if holds {
			n++
		}
	}
	return n
}
