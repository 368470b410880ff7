package record

import (
	"encoding/binary"

	"github.com/google/uuid"
)

// The kinds of GUIDs that hold a number. They have version 8 and the ids of records have version 4, so they
// never equal each other.
const (
	kindCursor = 1
	kindPerson = 2
)

// numberBits is the size of the largest number in a GUID.
const numberBits = 60

// PersonGUID returns the GUID of the person with an id of commons.
func PersonGUID(id int64) string { return encodeNumber(kindPerson, id) }

// PersonID returns the id of the person with a GUID, or false for another GUID.
func PersonID(guid string) (int64, bool) { return decodeNumber(kindPerson, guid) }

// Cursor returns the cursor for the position after a change. Its time is in microseconds since 1970.
func Cursor(changed int64) string { return encodeNumber(kindCursor, changed) }

// ParseCursor returns the time of the change that a cursor stands for, or false for another text.
func ParseCursor(cursor string) (changed int64, ok bool) { return decodeNumber(kindCursor, cursor) }

// encodeNumber returns the GUID of version 8 with a kind and a number from 0 to 2^60-1: the number has
// all bits of the first half that are not the version.
func encodeNumber(kind uint64, n int64) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(n)>>12<<16|8<<12|uint64(n)&0xfff) //nolint:gosec // not negative
	binary.BigEndian.PutUint64(id[8:], 2<<62|kind)
	return id.String()
}

func decodeNumber(kind uint64, guid string) (int64, bool) {
	id, err := uuid.Parse(guid)
	if err != nil || len(guid) != len(uuid.Nil.String()) {
		return 0, false
	}
	high := binary.BigEndian.Uint64(id[:8])
	n := int64(high>>16<<12 | high&0xfff) //nolint:gosec // at most 60 bits
	return n, n>>numberBits == 0 && encodeNumber(kind, n) == id.String()
}
