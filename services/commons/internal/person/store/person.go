package store

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

// Change is a draft with an id.
type Change struct {
	*rules.Draft
	ID int64
	// Old is the stored person before the change, or nil for a new person.
	Old *Person
	// NewHire is the stored hiring data, or nil.
	NewHire *NewHire
	// DeviceGroup is the device group that the person joins, or the zero value.
	DeviceGroup DeviceGroup
}

// State returns the state of the person that other domains store.
func (p Change) State() *commonsv1.PersonState {
	version := int64(1)
	if p.Old != nil {
		version = p.Old.Version + 1
	}
	return record.NewState(p.Record, p.ID, p.Zone, p.Zones, version)
}

// Item is one person of a request, during the operation. Err is the error of this item in the
// response.
type Item struct {
	Change
	Err error
}

// Response returns the person as the response shows them.
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
