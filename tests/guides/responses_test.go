package guides

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
)

// compareResponses compares each JSON block of a page with the last response that the commands before
// it printed, and each CSV block with their output. Outputs are the outputs of the blocks of commands. Responses may have further properties,
// because pages show only the properties that matter. An error is expected where the page shows one.
func compareResponses(t *testing.T, blocks [][]string, outputs []string) {
	t.Helper()
	commands := -1
	for i, block := range blocks {
		switch block[1] {
		case "bash":
			commands++
			if i+1 == len(blocks) || blocks[i+1][1] != "json" || !strings.Contains(blocks[i+1][2], "errorCode") {
				assert.NotContains(t, outputs[commands], "errorCode", "after\n%s", block[2])
			}
		case "csv":
			require.Equal(t, "bash", blocks[i-1][1], "a response follows its commands")
			assert.Contains(t, outputs[commands], block[2])
		case "json":
			require.GreaterOrEqual(t, commands, 0, "the page shows a response before the first command")
			require.Equal(t, "bash", blocks[i-1][1], "a response follows its commands")
			shown := decode(t, block[2])
			require.Len(t, shown, 1, "%s", block[2])
			responses := decode(t, outputs[commands])
			require.NotEmpty(t, responses, "%s", outputs[commands])
			assert.NoError(t, contract.Match(generalize("", shown[0]), responses[len(responses)-1]), "the page shows\n%s", block[2])
		}
	}
}

// decode returns the JSON objects and arrays of an output that may have other text between them.
func decode(t *testing.T, output string) []any {
	t.Helper()
	var values []any
	for rest := output; ; {
		start := strings.IndexAny(rest, "{[")
		if start < 0 {
			return values
		}
		decoder := json.NewDecoder(strings.NewReader(rest[start:]))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) != nil {
			rest = rest[start+1:]
			continue
		}
		values, rest = append(values, value), rest[start+int(decoder.InputOffset()):]
	}
}

var (
	// generated matches the names of properties whose values differ from one server to the next.
	generated = regexp.MustCompile(`(?i)id$|ids$|(?:person|employee|user)key$|^(?:token|version)$`)
	// moment matches dates, which follow the day of the test, with and without a time.
	moment = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
	number = regexp.MustCompile(`\d+`)
)

// generalize replaces the values of a page that differ from one server to the next by placeholders of [contract.Match].
func generalize(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = generalize(k, v[k])
		}
	case []any:
		for i := range v {
			v[i] = generalize(name, v[i])
		}
	case json.Number:
		if generated.MatchString(name) {
			return "<number>"
		}
	case string:
		switch {
		case generated.MatchString(name):
			return "<text>"
		case moment.MatchString(v), name == "message":
			return "<matches ^" + number.ReplaceAllString(regexp.QuoteMeta(v), `\d+`) + "$>"
		}
	}
	return value
}

// A page is compared with a response by the values that are the same on every server.
func TestGeneralize(t *testing.T) {
	t.Parallel()
	page := `{"nodeId": 14, "name": "Basel", "from": "2027-01-01", "message": "There is no location 14."}`
	for name, c := range map[string]struct {
		response string
		same     bool
	}{
		"other ids, dates and properties": {`{"nodeId": 9, "name": "Basel", "from": "2030-12-31", "message": "There is no location 987.", "more": 1}`, true},
		"another value":                   {`{"nodeId": 14, "name": "Bern", "from": "2027-01-01", "message": "There is no location 14."}`, false},
		"another message":                 {`{"nodeId": 14, "name": "Basel", "from": "2027-01-01", "message": "There is no job 14."}`, false},
		"a moment instead of a day":       {`{"nodeId": 14, "name": "Basel", "from": "2027-01-01T00:00:00", "message": "There is no location 14."}`, false},
		"an absent id":                    {`{"name": "Basel", "from": "2027-01-01", "message": "There is no location 14."}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := contract.Match(generalize("", decode(t, page)[0]), decode(t, "text"+c.response+"{ text")[0])
			assert.Equal(t, c.same, err == nil, "%v", err)
		})
	}
}
