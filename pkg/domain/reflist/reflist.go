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

// ExactlyOne returns the items of the only list that has items; nil if they are persistent ids,
// which a message may have too. It returns the error 400 with the code if several lists have items
// or none has; path is the position of the message in the request.
func ExactlyOne(code, path string, l Lists) ([]*commonv1.Ref, error) {
	names, given := kinds(l)
	if err := fault.ExactlyOne(code, path, names, given...); err != nil {
		return nil, err
	}
	return Refs(l), nil
}

// AtMostOne is [ExactlyOne] for a message whose lists may all be empty.
func AtMostOne(code, path string, l Lists) ([]*commonv1.Ref, error) {
	names, given := kinds(l)
	if err := fault.AtMostOne(code, path, names, given...); err != nil {
		return nil, err
	}
	return Refs(l), nil
}

// kinds returns the names of the lists that a message can have, and whether each has items.
func kinds(l Lists) (names string, given []bool) {
	given = []bool{len(l.GetIds()) > 0, len(l.GetQualifiers()) > 0, len(l.GetRefs()) > 0}
	if persistent, ok := l.(interface{ GetPersistentIds() []string }); ok {
		return "ids, qualifiers, refs and persistentIds", append(given, len(persistent.GetPersistentIds()) > 0)
	}
	return "ids, qualifiers and refs", given
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
