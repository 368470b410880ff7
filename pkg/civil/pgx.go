package civil

import (
	"errors"

	"github.com/jackc/pgx/v5/pgtype"
)

// errNullDate is for columns that may be NULL: they are scanned into a *Date of a
// pointer (**Date).
var errNullDate = errors.New("civil: NULL is no date; scan it into a pointer to one")

// DateValue makes a Date an argument for a parameter of the type date. Neither NULL
// (a nil *Date) nor infinity is a Date: rows without an end have Forever.
func (d Date) DateValue() (pgtype.Date, error) {
	return pgtype.Date{Time: d.Time(), Valid: true}, nil
}

// ScanDate reads a value of the type date. The infinities of PostgreSQL are read as
// the ends of what a schedule can say: Beginning and Forever.
func (d *Date) ScanDate(v pgtype.Date) error {
	switch {
	case !v.Valid:
		return errNullDate
	case v.InfinityModifier == pgtype.Infinity:
		*d = Forever
	case v.InfinityModifier == pgtype.NegativeInfinity:
		*d = Beginning
	default:
		*d = FromTime(v.Time)
	}
	return nil
}
