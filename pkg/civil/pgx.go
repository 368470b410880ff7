package civil

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// errNullDate is for columns that may be NULL: scan them into a **Date.
var errNullDate = errors.New("civil: NULL is not a date; scan it into a **Date")

// DateValue returns a Date as the argument for a parameter of type date. NULL (a nil *Date) and
// infinity are not Dates: rows without an end have Forever.
func (d Date) DateValue() (pgtype.Date, error) {
	return pgtype.Date{Time: d.Time(), Valid: true}, nil
}

// ScanDate reads a value of type date. It reads the infinities of PostgreSQL as Beginning and
// Forever.
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

// EpochSQL is Date 0 in SQL, for the few statements that calculate with day numbers. All others
// pass dates as dates.
const EpochSQL = "'1970-01-01'::date"

// Register lets a connection encode Dates directly as numbers, without a time.Time for each. It is
// only an optimisation.
func Register(m *pgtype.Map) {
	date := &pgtype.Type{Name: "date", OID: pgtype.DateOID, Codec: dateCodec{}}
	m.RegisterType(date)
	m.RegisterType(&pgtype.Type{Name: "_date", OID: pgtype.DateArrayOID, Codec: &pgtype.ArrayCodec{ElementType: date}})
}

// The binary form of a date: the days since 2000-01-01. The ends of the range are the infinities.
const (
	postgresEpoch    = 10957
	infinity         = 1<<31 - 1
	negativeInfinity = -1 << 31
)

type dateCodec struct{ pgtype.DateCodec }

// PlanEncode returns the plan for encoding an argument.
func (c dateCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(Date); ok && format == pgtype.BinaryFormatCode {
		return encodeDate{}
	}
	return c.DateCodec.PlanEncode(m, oid, format, value)
}

// PlanScan returns the plan for reading a value.
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
