package contract

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatchReportsDifferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, expected, actual, problem string
	}{
		{"equal numbers", `{"a":1}`, `{"a":1.0}`, ""},
		{"more members than expected", `{"a":1}`, `{"a":1,"b":2}`, ""},
		{"a missing member", `{"a":1}`, `{}`, "response.a is absent"},
		{"a member that must be absent", `{"a":"<absent>"}`, `{"a":null}`, "must be absent"},
		{"a longer array", `[1]`, `[1,2]`, "must be [1]"},
		{"an item somewhere", `{"<contains>":[{"a":2}]}`, `[{"a":1},{"a":2}]`, ""},
		{"no such item", `{"<contains>":[{"a":3}]}`, `[{"a":1}]`, "no item like"},
		{"a number for a text", `"<text>"`, `1`, "must be"},
		{"a matching text", `"<matches ^WFS-\\d+$>"`, `"WFS-1"`, ""},
		{"a text that does not match", `"<matches ^WFS>"`, `"WTK"`, "must be"},
		{"an unknown placeholder", `"<foo>"`, `"x"`, "unknown placeholder"},
		{"a deep difference", `{"a":[{"b":true}]}`, `{"a":[{"b":false}]}`, "response.a[0].b is false"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := Match(decode(t, test.expected), decode(t, test.actual))
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.problem)
		})
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	require.NoError(t, decoder.Decode(&v))
	return v
}
