package person

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// day is the place of a date as text; NULL when it is empty.
type day struct{ at *string }

// Scan takes over what is read from the database.
func (d day) Scan(source any) error {
	*d.at = ""
	if t, ok := source.(time.Time); ok {
		*d.at = civil.FromTime(t).String()
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

// copyValues copies the values of an element to another of the same list.
func copyValues(to, from element) {
	for i, value := range from.values {
		switch v := value.(type) {
		case *string:
			*to.values[i].(*string) = *v
		case **float64:
			*to.values[i].(**float64) = *v
		case **bool:
			*to.values[i].(**bool) = *v
		case day:
			*to.values[i].(day).at = *v.at
		case criteria:
			*to.values[i].(criteria).at = *v.at
		}
	}
}

// fingerprint is the same for elements with the same values among the first n.
func (e element) fingerprint(n int) string {
	var b strings.Builder
	for _, value := range e.values[:n] {
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
		case day:
			fmt.Fprintf(&b, "%s ", *v.at)
		case criteria:
			blob, _ := v.bytes()
			fmt.Fprintf(&b, "%x ", blob)
		}
	}
	return b.String()
}

// columnValues collects the values of one column.
type columnValues struct {
	kind   string
	texts  []string
	maybes []*float64
	flags  []*bool
	days   []*time.Time
	blobs  [][]byte
}

func (c *columnValues) add(value any) error {
	switch v := value.(type) {
	case *string:
		c.texts = append(c.texts, *v)
	case **float64:
		c.maybes = append(c.maybes, *v)
	case **bool:
		c.flags = append(c.flags, *v)
	case day:
		c.days = append(c.days, dateOrNull(*v.at))
	case criteria:
		blob, err := v.bytes()
		if err != nil {
			return err
		}
		c.blobs = append(c.blobs, blob)
	}
	return nil
}

func (c *columnValues) slice() any {
	switch c.kind {
	case "double precision":
		return c.maybes
	case "bool":
		return c.flags
	case "date":
		return c.days
	case "bytea":
		return c.blobs
	}
	return c.texts
}

// dateOf answers a date that the rules let through.
func dateOf(text string) time.Time {
	day, err := civil.ParseDate(text)
	if err != nil {
		return civil.Beginning.Time()
	}
	return day.Time()
}

// dateOrNull answers a date that may be missing.
func dateOrNull(text string) *time.Time {
	if text == "" {
		return nil
	}
	t := dateOf(text)
	return &t
}
