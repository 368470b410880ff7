// Package reference holds the pages of docs/ that are made from the programs: their
// settings and their metrics. `make reference` writes them anew.
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

var update = flag.Bool("update", false, "write the pages anew")

// requirePage compares a page with what it should be, or writes it.
func requirePage(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join(launch.Root(t), "docs", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	if !bytes.Equal(got, []byte(want)) {
		t.Errorf("docs/%s is not what the programs say: run `make reference` and commit it", name)
	}
}
