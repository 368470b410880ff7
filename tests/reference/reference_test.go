// Package reference compares the generated pages of docs/ with the programs: their settings,
// metrics and codes. `make reference` writes the pages again.
package reference

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

var update = flag.Bool("update", false, "write the pages again")

// requirePage compares a page with its expected text, or writes it. name is its path below the root.
func requirePage(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(launch.Root(t), name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s differs from the programs: run `make reference` and commit it", name)
	}
}
