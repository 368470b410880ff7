// Package entryid gives every generated entry of a schedule an id that follows from where it stands, so that an
// entry that is written nowhere can be named, read and edited.
//
//	bit 52      set: the id is generated; ids of entries made by hand come from a sequence below 2^52
//	bits 27-51  employee
//	bits 8-26   day, counted from 1900-01-01
//	bits 4-7    lane of the span that generates the entry
//	bits 0-3    ordinal of the entry on its cycle day
//
// With 53 bits an id survives clients that keep numbers as doubles.
package entryid

import (
	"errors"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

const (
	ordinalBits  = 4
	laneBits     = 4
	dayBits      = 19
	employeeBits = 25

	laneShift     = ordinalBits
	dayShift      = laneShift + laneBits
	employeeShift = dayShift + dayBits

	// FirstGenerated is the smallest number that is not an id of an entry made by hand.
	FirstGenerated = int64(1) << (employeeShift + employeeBits)
	// MaxEmployee is the largest employee id that fits.
	MaxEmployee = int64(1)<<employeeBits - 1
	// MaxLane and MaxOrdinal are the largest lane and ordinal that fit.
	MaxLane    = 1<<laneBits - 1
	MaxOrdinal = 1<<ordinalBits - 1
)

var (
	// ErrRange says that a part does not fit into an id.
	ErrRange = errors.New("no generated id exists for this entry")
	// ErrNotGenerated says that a number is not the id of a generated entry.
	ErrNotGenerated = errors.New("not the id of a generated entry")
)

// Entry is where a generated entry stands.
type Entry struct {
	Employee int64      // 1 to MaxEmployee
	Day      civil.Date // the day it belongs to, from civil.Beginning and before civil.Forever
	Lane     uint8      // 0 to MaxLane
	Ordinal  uint8      // 0 to MaxOrdinal
}

// Encode returns the id of e. Errors wrap [ErrRange].
func Encode(e Entry) (int64, error) {
	if !e.fits() {
		return 0, fmt.Errorf("%w: employee %d, %v, lane %d, ordinal %d", ErrRange, e.Employee, e.Day, e.Lane, e.Ordinal)
	}
	day := int64(e.Day - civil.Beginning)
	return FirstGenerated | e.Employee<<employeeShift | day<<dayShift | int64(e.Lane)<<laneShift | int64(e.Ordinal), nil
}

// Decode returns where the entry of an id stands. Errors wrap [ErrNotGenerated].
func Decode(id int64) (Entry, error) {
	e := Entry{
		Employee: id >> employeeShift & MaxEmployee,
		Day:      civil.Beginning + civil.Date(id>>dayShift&(1<<dayBits-1)),
		Lane:     uint8(id >> laneShift & MaxLane),
		Ordinal:  uint8(id & MaxOrdinal),
	}
	if !IsGenerated(id) || !e.fits() {
		return Entry{}, fmt.Errorf("%w: %d", ErrNotGenerated, id)
	}
	return e, nil
}

// IsGenerated reports whether an id belongs to the generated ones, as opposed to those of entries made by hand. It
// does not say that such an entry exists.
func IsGenerated(id int64) bool { return id >= FirstGenerated && id < 2*FirstGenerated }

func (e Entry) fits() bool {
	return e.Employee >= 1 && e.Employee <= MaxEmployee &&
		e.Day >= civil.Beginning && e.Day < civil.Forever &&
		e.Lane <= MaxLane && e.Ordinal <= MaxOrdinal
}
