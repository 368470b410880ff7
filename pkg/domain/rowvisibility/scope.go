// Package rowvisibility decides which persons a caller may see. Permissions control the operations;
// row visibility controls the rows. A service gets the [Set] of a context when it resolves the
// persons in a request, and treats a person outside the set as unknown.
// whoever is not in it as unknown.
package rowvisibility

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
)

// Scope is the row scope of a caller. The access token contains it.
type Scope string

// The scopes, from the narrowest to the widest.
const (
	// Own covers only the caller.
	Own Scope = "own"
	// Group covers the caller and the members of the caller's employee group.
	Group Scope = "group"
	// All covers all persons of the tenant.
	All Scope = "all"
)

var order = []Scope{Own, Group, All}

// ParseScope parses a scope in any case. An empty text means Own.
func ParseScope(text string) (Scope, bool) {
	if text == "" {
		return Own, true
	}
	s := Scope(strings.ToLower(text))
	return s, slices.Contains(order, s)
}

// Within reports whether a caller with the scope other sees all that s shows. An invalid scope
// counts as Own.
func (s Scope) Within(other Scope) bool {
	return slices.Index(order, s) <= max(slices.Index(order, other), 0)
}

// Set is the set of persons that a caller may see. The zero Set is empty. Sets are shared and must
// not be changed.
type Set struct {
	all bool
	ids []int64
	// dated are the only days of persons in ids who are not visible on all days.
	dated map[int64][]civil.Range
	// delegated holds the persons that delegators see. note receives the delegators whose
	// delegation shows a person that the caller does not see otherwise.
	delegated []delegated
	note      func(delegator int64)
	// own is the rule of the call about the caller's own record, or nil.
	own *authn.OwnRecord
}

// AllPersons returns the Set of all persons.
func AllPersons() Set { return Set{all: true} }

// Persons returns the Set of the given persons.
func Persons(ids ...int64) Set {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	return Set{ids: slices.Compact(sorted)}
}

// Digest identifies the persons in a set, so that data cached for one set is not shown to callers
// with another set.
func (s Set) Digest() [sha256.Size]byte {
	s.note, s.own = nil, nil
	if s.All() {
		return sha256.Sum256([]byte("everybody"))
	}
	ids := s.IDs()
	text := make([]byte, 0, 8*len(ids))
	for _, id := range ids {
		text = binary.BigEndian.AppendUint64(text, uint64(id))
	}
	return sha256.Sum256(text)
}

// All reports whether the set contains all persons.
func (s Set) All() bool {
	return s.all || s.byDelegation(func(d Set) bool { return d.all })
}

// Own returns the set without the persons that only delegations show.
func (s Set) Own() Set { return Set{all: s.all, ids: s.ids, dated: s.dated, own: s.own} }

// Has reports whether a person is in the set.
func (s Set) Has(id int64) bool {
	return s.has(id) || s.byDelegation(func(d Set) bool { return d.has(id) })
}

// HasOn reports whether a person is visible on all of some days. It differs from Has only in the set of
// [OnAnyDay].
func (s Set) HasOn(id int64, days civil.Range) bool {
	return s.hasOn(id, days) || s.byDelegation(func(d Set) bool { return d.hasOn(id, days) })
}

func (s Set) hasOn(id int64, days civil.Range) bool {
	ranges, limited := s.dated[id]
	return s.has(id) && (!limited || coverDays(ranges, days))
}

// LastDay returns the last day on which a person is visible, of the days through a given one. It reports
// whether there is such a day.
func (s Set) LastDay(id int64, through civil.Date) (last civil.Date, found bool) {
	consider := func(d Set) bool {
		day, shown := d.lastDay(id, through)
		if shown && (!found || day > last) {
			last, found = day, true
		}
		return shown
	}
	consider(s)
	if !found || last < through {
		s.byDelegation(consider)
	}
	return last, found
}

func (s Set) lastDay(id int64, through civil.Date) (last civil.Date, found bool) {
	ranges, limited := s.dated[id]
	if !limited {
		return through, s.has(id)
	}
	for _, r := range ranges {
		if r.From <= through {
			last, found = min(r.To-1, through), true
		}
	}
	return last, found
}

func (s Set) has(id int64) bool {
	if s.all {
		return true
	}
	_, found := slices.BinarySearch(s.ids, id)
	return found
}

// IDs returns the persons in the set by ascending id. It is meaningless if All is true. The caller
// must not change it.
func (s Set) IDs() []int64 {
	if len(s.delegated) == 0 {
		return s.ids
	}
	ids := slices.Clone(s.ids)
	s.byDelegation(func(d Set) bool {
		ids = append(ids, d.ids...)
		return len(d.ids) > 0
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

// byDelegation reports whether shows is true for the set of any delegator, and records these
// delegators.
func (s Set) byDelegation(shows func(Set) bool) bool {
	found := false
	for _, d := range s.delegated {
		if shows(d.set) {
			found = true
			if s.note != nil {
				s.note(d.Delegator)
			}
		}
	}
	return found
}
