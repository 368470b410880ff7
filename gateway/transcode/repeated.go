package transcode

import "github.com/rotaloom/rotaloom/pkg/fault"

// fieldSet holds the positions of the properties that an object has had so far. It
// allocates nothing for message types with up to 64 fields.
type fieldSet struct {
	first uint64
	rest  []uint64
}

// add puts a position into the set, and reports whether it was not there.
func (s *fieldSet) add(position int) bool {
	bits, bit := &s.first, uint64(1)<<(position%64)
	if word := position/64 - 1; word >= 0 {
		for len(s.rest) <= word {
			s.rest = append(s.rest, 0)
		}
		bits = &s.rest[word]
	}
	if *bits&bit != 0 {
		return false
	}
	*bits |= bit
	return true
}

// repeated is the problem of a property that an object has had already.
func repeated() *problem { return problemf(fault.CodeValue, "comes more than once in an object") }
