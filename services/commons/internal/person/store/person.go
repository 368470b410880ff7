package store

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// Change is a draft that has its id.
type Change struct {
	*rules.Draft
	ID int64
	// Old is what the person was; nil when they are new.
	Old *Person
	// NewHire is what is kept of their hiring, or nil.
	NewHire *NewHire
}

// State is what other domains keep of the person.
func (p Change) State() *commonsv1.PersonState {
	version := int64(1)
	if p.Old != nil {
		version = p.Old.Version + 1
	}
	return record.NewState(p.Record, p.ID, p.Zone, p.Zones, version)
}

// Item is one person of a request on the way through the operation. Its error
// is what the caller gets for it.
type Item struct {
	Change
	Err error
}

// Response is what the caller gets for a person.
func (it *Item) Response(in *commonsv1.Person, day civil.Date) *commonsv1.Person {
	out := it.Render(it.ID, day)
	if asked := in.GetPersonIdentity(); asked != nil {
		out.PersonIdentity.RequestItemId = asked.RequestItemId
	}
	return out
}

// Valid returns the items that have not failed.
func Valid(items []*Item) []*Item {
	return slices.DeleteFunc(slices.Clone(items), func(it *Item) bool { return it.Err != nil })
}
