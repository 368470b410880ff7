package contract

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/rotaloom/rotaloom/pkg/policy"
)

// specified is an operation that the specification names.
type specified struct {
	Operation string `yaml:"operation"`
	// Route is method and path.
	Route string `yaml:"route"`
	// Open says why it is not served yet.
	Open string `yaml:"open"`
}

func TestOperationsOfTheSpecification(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/specification.yaml")
	require.NoError(t, err)
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	var list []specified
	require.NoError(t, decoder.Decode(&list))
	require.NotEmpty(t, list)
	operations, err := policy.NewTable(nil).Operations()
	require.NoError(t, err)
	served := map[string]bool{}
	for _, o := range operations {
		served[unnamed(o.Route)] = true
	}
	seen := map[string]bool{}
	for _, s := range list {
		t.Run(s.Operation, func(t *testing.T) {
			assert.NotEmpty(t, s.Operation)
			assert.False(t, seen[s.Route], "%s is listed twice", s.Route)
			seen[s.Route] = true
			if s.Open == "" {
				assert.True(t, served[unnamed(s.Route)], "%s is not served; say why under open", s.Route)
			} else {
				assert.False(t, served[unnamed(s.Route)], "%s is served: it is no more open", s.Route)
			}
		})
	}
}

// unnamed is a route whose parameters have no names.
func unnamed(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}
