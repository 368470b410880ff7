package contract

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
)

// specified is an operation in the specification.
type specified struct {
	Operation string `yaml:"operation"`
	// Route is method and path.
	Route string `yaml:"route"`
	// Open says why the operation is not served yet.
	Open string `yaml:"open"`
	// Language says that the operation takes Accept-Language.
	Language bool `yaml:"language"`
}

func readSpecification(t *testing.T) []specified {
	t.Helper()
	text, err := os.ReadFile("testdata/specification.yaml")
	require.NoError(t, err)
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	var list []specified
	require.NoError(t, decoder.Decode(&list))
	require.NotEmpty(t, list)
	return list
}

func TestOperationsOfTheSpecification(t *testing.T) {
	t.Parallel()
	list := readSpecification(t)
	operations, err := policy.NewTable(nil).Operations()
	require.NoError(t, err)
	served := map[string]bool{}
	for _, o := range operations {
		served[removeNames(o.Route)] = true
	}
	seen := map[string]bool{}
	for _, s := range list {
		t.Run(s.Operation, func(t *testing.T) {
			assert.NotEmpty(t, s.Operation)
			assert.False(t, seen[s.Route], "%s is listed twice", s.Route)
			seen[s.Route] = true
			if s.Open == "" {
				assert.True(t, served[removeNames(s.Route)], "%s is not served; say why under open", s.Route)
			} else {
				assert.False(t, served[removeNames(s.Route)], "%s is served: remove the reason why it is open", s.Route)
			}
		})
	}
}

// For each operation that takes Accept-Language, a case requests a language, and the response has
// that language and a Content-Language header.
func TestLanguagesOfTheSpecification(t *testing.T) {
	t.Parallel()
	all, err := Load(cases.FS)
	require.NoError(t, err)
	operations := Operations()
	shown := map[string]bool{}
	for _, c := range all {
		for _, step := range c.Steps {
			language := step.ExpectHeader["Content-Language"]
			if step.Header["Accept-Language"] == "" || language == "" || strings.HasPrefix(language, "<") || step.ExpectHeader["Vary"] != "Accept-Encoding, Accept-Language" {
				continue
			}
			if _, route := Called(operations, step); route != nil {
				path := strings.ReplaceAll("/"+strings.Join(route.segments, "/")+"/", "//", "/{}/")
				shown[route.method+" "+strings.TrimSuffix(path, "/")] = true
			}
		}
	}
	asked := 0
	for _, s := range readSpecification(t) {
		if s.Language {
			asked++
			assert.True(t, shown[removeNames(s.Route)], "%s: no case shows it in a language, with Vary and Content-Language", s.Route)
		}
	}
	assert.Equal(t, 11, asked)
}

// removeNames returns a route without the names of its parameters.
func removeNames(route string) string {
	segments := strings.Split(route, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}
