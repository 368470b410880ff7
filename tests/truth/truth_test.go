package truth

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func TestMain(m *testing.M) { launch.MainWithCheapPasswords(m) }

var update = flag.Bool("update", false, "write docs/truth.md")

func TestPage(t *testing.T) {
	t.Parallel()
	all, err := Load()
	require.NoError(t, err)
	path := filepath.Join(launch.Root(t), "docs", "truth.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page(all)), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, page(all), string(got), "docs/truth.md differs from the cases: run `make reference` and commit it")
}

// TestExamples runs all examples on one server. A hit must be returned as the source says. A
// miss must not, so that nobody forgets to publish that it became a hit.
func TestExamples(t *testing.T) {
	t.Parallel()
	all, err := Load()
	require.NoError(t, err)
	s := newSuite(t, scenario.API{Target: launch.Standalone(t).Target(t)})
	for _, c := range all {
		if c.Result == NotSupported {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			err := s.run(t.Context(), &c)
			if c.Result == Hit {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.Got, "docs/truth.md says that the product returns this")
		})
	}
}
