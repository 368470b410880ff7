package contract_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/rotaloom/rotaloom/pkg/policy"
)

// specifiedLimit is a row of the specification's table of limits.
type specifiedLimit struct {
	Limit      string `yaml:"limit"`
	Operations string `yaml:"operations"`
	Counted    string `yaml:"counted"`
	Max        int64  `yaml:"max"`
	Status     int    `yaml:"status"`
	Code       string `yaml:"code"`
}

// The contract declares the limits of the specification for every operation that they concern,
// including operations that are added later.
func TestLimitsOfTheSpecification(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/specification_limits.yaml")
	require.NoError(t, err)
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	var rows []specifiedLimit
	require.NoError(t, decoder.Decode(&rows))
	require.Len(t, rows, 12, "the table has twelve rows")
	operations, err := policy.NewTable(nil).Operations()
	require.NoError(t, err)
	declared := map[string][]declaredLimit{}
	for _, l := range declaredLimits(t) {
		declared[l.method+" "+l.path] = append(declared[l.method+" "+l.path], l)
	}
	for _, row := range rows {
		t.Run(row.Limit, func(t *testing.T) {
			t.Parallel()
			applies, counted := regexp.MustCompile(row.Operations), regexp.MustCompile(row.Counted)
			found := 0
			for _, o := range operations {
				if !applies.MatchString(o.Route) {
					continue
				}
				found++
				limited := false
				for _, l := range declared[o.Route] {
					if !counted.MatchString(l.countedProperty()) {
						continue
					}
					limited = true
					assert.Equal(t, row.Max, l.max, "%s", l)
					assert.Equal(t, row.Status, l.status, "%s", l)
					if row.Code != "" {
						assert.Equal(t, row.Code, l.code, "%s", l)
					}
				}
				assert.True(t, limited, "%s has no such limit", o.Route)
			}
			assert.NotZero(t, found, "no operation has a route like %s", row.Operations)
		})
	}
}
