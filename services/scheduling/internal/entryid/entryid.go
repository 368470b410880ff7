// Package entryid assigns an id to every generated entry of a schedule, so that entries can be
// referenced, read and edited without being stored.
//
//	bit 52      set: the id is generated; ids of entered entries come from a sequence below 2^52
//	bits 19-51  series: the entries that one assignment generates from one item of a pattern for one employee
//	bits 0-18   day, counted from 1900-01-01
//
// A series gets a number when a span begins to generate it, and numbers are never reused: an id
// refers to the same entry or to nothing, forever. With 53 bits, ids stay exact for clients that
// store numbers as doubles.
package entryid

import (
	"errors"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

const (
	dayBits    = 19
	seriesBits = 33

	// FirstGenerated is the smallest id of a generated entry.
	FirstGenerated = int64(1) << (dayBits + seriesBits)
	// MaxSeries is the largest series that fits into an id.
	MaxSeries = int64(1)<<seriesBits - 1
)

var (
	// ErrRange reports that a part does not fit into an id.
	ErrRange = errors.New("no generated id exists for this entry")
	// ErrNotGenerated reports that a number is not the id of a generated entry.
	ErrNotGenerated = errors.New("not the id of a generated entry")
)

// Entry is the decoded id of a generated entry.
type Entry struct {
	Series int64      // 1 to MaxSeries
	Day    civil.Date // the day it belongs to, from civil.Beginning and before civil.Forever
}

// Encode returns the id of e. Errors wrap [ErrRange].
func Encode(e Entry) (int64, error) {
	if !e.fits() {
		return 0, fmt.Errorf("%w: series %d, %v", ErrRange, e.Series, e.Day)
	}
	return FirstGenerated | e.Series<<dayBits | int64(e.Day-civil.Beginning), nil
}

// Decode decodes an id. Errors wrap [ErrNotGenerated].
func Decode(id int64) (Entry, error) {
	e := Entry{Series: id >> dayBits & MaxSeries, Day: civil.Beginning + civil.Date(id&(1<<dayBits-1))}
	if !IsGenerated(id) || !e.fits() {
		return Entry{}, fmt.Errorf("%w: %d", ErrNotGenerated, id)
	}
	return e, nil
}

// IsGenerated reports whether an id is in the range of generated entries. Such an entry need not
// exist.
func IsGenerated(id int64) bool { return id >= FirstGenerated && id < 2*FirstGenerated }

// Later returns the id on the same day that is a number of series after a generated id.
func Later(id int64, series int32) int64 { return id + int64(series)<<dayBits }

func (e Entry) fits() bool {
	return e.Series >= 1 && e.Series <= MaxSeries && e.Day >= civil.Beginning && e.Day < civil.Forever
}
