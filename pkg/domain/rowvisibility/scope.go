// Package rowvisibility says whose data a caller may see. Permissions say what somebody
// may do; the row rules say to whose rows. A service asks for the [Set] of a
// context where it resolves the persons that a request names, and treats
// whoever is not in it as unknown.
package rowvisibility

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

// Scope is how far somebody sees. It stands in the access token.
type Scope string

// The scopes, from the narrowest to the widest.
const (
	// Own is the caller alone.
	Own Scope = "own"
	// Group is the caller and the members of the caller's employee group.
	Group Scope = "group"
	// All is everybody in the tenant.
	All Scope = "all"
)

var order = []Scope{Own, Group, All}

// ParseScope reads a scope in any case. Nothing means Own.
func ParseScope(text string) (Scope, bool) {
	if text == "" {
		return Own, true
	}
	s := Scope(strings.ToLower(text))
	return s, slices.Contains(order, s)
}

// Within reports whether whoever sees as far as other sees all that s shows.
// What is no scope counts as Own.
func (s Scope) Within(other Scope) bool {
	return slices.Index(order, s) <= max(slices.Index(order, other), 0)
}

// Set is the persons that a caller may see. The zero Set is nobody. Sets are
// shared and never changed.
type Set struct {
	all bool
	ids []int64
	// delegated is whom others see who delegated to the caller. note receives who
	// they are, when they show somebody whom the caller does not see anyway.
	delegated []delegated
	note      func(delegator int64)
	// own is the rule of the call about the caller's own record, or nil.
	own *authn.OwnRecord
}

// AllPersons is the Set of all persons.
func AllPersons() Set { return Set{all: true} }

// Persons is the Set of some persons.
func Persons(ids ...int64) Set {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	return Set{ids: slices.Compact(sorted)}
}

// Digest is the same for sets with the same persons in them, and for no others:
// what was made for one set is not shown to who sees another.
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

// All reports whether the set has everybody in it.
func (s Set) All() bool {
	return s.all || s.byDelegation(func(d Set) bool { return d.all })
}

// Own returns the set without whom only delegations show.
func (s Set) Own() Set { return Set{all: s.all, ids: s.ids, own: s.own} }

// Has reports whether a person is in the set.
func (s Set) Has(id int64) bool {
	return s.has(id) || s.byDelegation(func(d Set) bool { return d.has(id) })
}

func (s Set) has(id int64) bool {
	if s.all {
		return true
	}
	_, found := slices.BinarySearch(s.ids, id)
	return found
}

// IDs returns the persons in the set by ascending id. It has no meaning when
// All is true. The caller must not change it.
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

// byDelegation reports whether what any of the delegators sees shows what is asked
// for, and notes whose delegations do.
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
