package person

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// newPerson is a draft that has its id.
type newPerson struct {
	*draft
	id int64
	// old is what the person was; nil when they are new.
	old *stored
	// hire is what is kept of their hiring, or nil.
	hire *hire
}

// state is what other domains keep of the person.
func (p newPerson) state() *commonsv1.PersonState {
	version := int64(1)
	if p.old != nil {
		version = p.old.version + 1
	}
	return stateOf(p.record, p.id, p.zone, version)
}

// item is one person of a request on the way through the operation. Its error
// is what the caller gets for it.
type item struct {
	newPerson
	err error
}

// answer is what the caller gets for a person.
func (it *item) answer(in *commonsv1.Person, day civil.Date) *commonsv1.Person {
	out := it.show(it.id, day)
	if asked := in.GetPersonIdentity(); asked != nil {
		out.PersonIdentity.RequestItemId = asked.RequestItemId
	}
	return out
}

// good answers the items that have not failed.
func good(items []*item) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.err != nil })
}
