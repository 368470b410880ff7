package civil

import (
	"encoding/binary"
	"errors"
	"fmt"

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

// EpochSQL is Date 0 as SQL, for the few statements that calculate with the numbers of
// days themselves. All others pass dates as dates.
const EpochSQL = "'1970-01-01'::date"

// Register lets a connection pass Dates as the numbers that they are, without a time.Time
// for each. Without it they are passed all the same.
func Register(m *pgtype.Map) {
	date := &pgtype.Type{Name: "date", OID: pgtype.DateOID, Codec: dateCodec{}}
	m.RegisterType(date)
	m.RegisterType(&pgtype.Type{Name: "_date", OID: pgtype.DateArrayOID, Codec: &pgtype.ArrayCodec{ElementType: date}})
}

// The binary form of a date: the days since 2000-01-01, of which the ends of the range
// are the infinities.
const (
	postgresEpoch    = 10957
	infinity         = 1<<31 - 1
	negativeInfinity = -1 << 31
)

type dateCodec struct{ pgtype.DateCodec }

// PlanEncode plans how an argument is written.
func (c dateCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(Date); ok && format == pgtype.BinaryFormatCode {
		return encodeDate{}
	}
	return c.DateCodec.PlanEncode(m, oid, format, value)
}

// PlanScan plans how a value is read.
func (c dateCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*Date); ok && format == pgtype.BinaryFormatCode {
		return scanDate{}
	}
	return c.DateCodec.PlanScan(m, oid, format, target)
}

type encodeDate struct{}

// Encode appends a Date.
func (encodeDate) Encode(value any, buf []byte) ([]byte, error) {
	return binary.BigEndian.AppendUint32(buf, uint32(value.(Date)-postgresEpoch)), nil
}

type scanDate struct{}

// Scan reads a Date.
func (scanDate) Scan(src []byte, target any) error {
	if src == nil {
		return errNullDate
	}
	if len(src) != 4 {
		return fmt.Errorf("civil: a date of %d bytes", len(src))
	}
	switch days := int32(binary.BigEndian.Uint32(src)); days {
	case infinity:
		*target.(*Date) = Forever
	case negativeInfinity:
		*target.(*Date) = Beginning
	default:
		*target.(*Date) = Date(days) + postgresEpoch
	}
	return nil
}
