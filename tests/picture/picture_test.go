package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The picture has a row for each schedule, with its shifts on their days, and is well-formed.
func TestDraw(t *testing.T) {
	t.Parallel()
	first := time.Date(2027, time.February, 27, 0, 0, 0, 0, time.UTC)
	shift := func(label string, day, hour, hours int) Shift {
		start := first.AddDate(0, 0, day).Add(time.Duration(hour) * time.Hour)
		return Shift{Label: label, Start: start, End: start.Add(time.Duration(hours) * time.Hour)}
	}
	got := string(Draw([]Row{
		{Name: "4 on & 4 off", Shifts: []Shift{shift("D", 0, 7, 12), shift("N", 1, 19, 12), shift("before", -1, 19, 12)}},
		{Name: "24 on", Shifts: []Shift{shift("W", 2, 8, 24), shift("A", 3, 14, 8)}},
	}, first, 4))

	decoder := xml.NewDecoder(strings.NewReader(got))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	for _, want := range []string{
		`>4 on &amp; 4 off</text>`, `>February 2027</text>`, `>March 2027</text>`,
		`<rect x="211" y="41" width="24" height="24" rx="4" fill="#e0a93e"><title>D 07:00-19:00</title>`,
		`<rect x="237" y="41" width="24" height="24" rx="4" fill="#4a6fa5"><title>N 19:00-07:00</title>`,
		`<rect x="263" y="67" width="24" height="24" rx="4" fill="#a4516c"><title>W 08:00-08:00</title>`,
		`<rect x="289" y="67" width="24" height="24" rx="4" fill="#4f9d69"><title>A 14:00-22:00</title>`,
	} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "before")
}
