package record

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Day is the place of a date as text; NULL when it is empty.
type Day struct{ At *string }

// Scan takes over what is read from the database.
func (d Day) Scan(source any) error {
	*d.At = ""
	if t, ok := source.(time.Time); ok {
		*d.At = civil.FromTime(t).String()
	}
	return nil
}

// criteria is the place of a message that is kept as bytes; NULL when there is
// none.
type criteria struct {
	at **commonsv1.OrganizationCriteria
}

func (c criteria) bytes() ([]byte, error) {
	if *c.at == nil {
		return nil, nil
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(*c.at)
}

// Scan takes over what is read from the database.
func (c criteria) Scan(source any) error {
	blob, ok := source.([]byte)
	if !ok || blob == nil {
		*c.at = nil
		return nil
	}
	*c.at = &commonsv1.OrganizationCriteria{}
	return proto.Unmarshal(blob, *c.at)
}

// CopyValues copies the values of an element to another of the same list.
func CopyValues(to, from Element) {
	for i, value := range from.Values {
		switch v := value.(type) {
		case *string:
			*to.Values[i].(*string) = *v
		case **float64:
			*to.Values[i].(**float64) = *v
		case **bool:
			*to.Values[i].(**bool) = *v
		case Day:
			*to.Values[i].(Day).At = *v.At
		case criteria:
			*to.Values[i].(criteria).at = *v.at
		}
	}
}

// Fingerprint is the same for elements with the same values among the first n.
func (e Element) Fingerprint(n int) string {
	var b strings.Builder
	for _, value := range e.Values[:n] {
		switch v := value.(type) {
		case *string:
			fmt.Fprintf(&b, "%q ", *v)
		case **float64:
			if *v != nil {
				fmt.Fprintf(&b, "%g", **v)
			}
			b.WriteByte(' ')
		case **bool:
			if *v != nil {
				fmt.Fprintf(&b, "%t", **v)
			}
			b.WriteByte(' ')
		case Day:
			fmt.Fprintf(&b, "%s ", *v.At)
		case criteria:
			blob, _ := v.bytes()
			fmt.Fprintf(&b, "%x ", blob)
		}
	}
	return b.String()
}

// ColumnValues collects the values of one column.
type ColumnValues struct {
	Kind   string
	Texts  []string
	maybes []*float64
	flags  []*bool
	Days   []*time.Time
	blobs  [][]byte
}

func (c *ColumnValues) Add(value any) error {
	switch v := value.(type) {
	case *string:
		c.Texts = append(c.Texts, *v)
	case **float64:
		c.maybes = append(c.maybes, *v)
	case **bool:
		c.flags = append(c.flags, *v)
	case Day:
		c.Days = append(c.Days, DateOrNull(*v.At))
	case criteria:
		blob, err := v.bytes()
		if err != nil {
			return err
		}
		c.blobs = append(c.blobs, blob)
	}
	return nil
}

func (c *ColumnValues) Slice() any {
	switch c.Kind {
	case "double precision":
		return c.maybes
	case "bool":
		return c.flags
	case "date":
		return c.Days
	case "bytea":
		return c.blobs
	}
	return c.Texts
}

// dateOf answers a date that the rules let through.
func dateOf(text string) time.Time {
	day, err := civil.ParseDate(text)
	if err != nil {
		return civil.Beginning.Time()
	}
	return day.Time()
}

// DateOrNull answers a date that may be missing.
func DateOrNull(text string) *time.Time {
	if text == "" {
		return nil
	}
	t := dateOf(text)
	return &t
}
