package architecture

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// belowSearch lists the packages of commons that the read side may import: both sides depend on
// them. None of them writes persons, jobs or locations.
var belowSearch = []string{"internal/locationpath", "internal/structure"}

// The read side of commons has queries, employee groups and copies of other services' state. The
// write side imports internal/search and no package below it; the read side imports no package of
// the write side.
func TestReadSideOfCommonsIsSeparate(t *testing.T) {
	t.Parallel()
	const commons = root + "services/commons/"
	out := run(t, filepath.Join("..", "..", "services", "commons"), "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	inside := 0
	for line := range strings.Lines(out) {
		names := strings.Fields(line)
		importer := strings.TrimPrefix(names[0], commons)
		behind := importer == "internal/search" || strings.HasPrefix(importer, "internal/search/")
		for _, imported := range names[1:] {
			name, ok := strings.CutPrefix(imported, commons)
			if !ok {
				continue
			}
			switch {
			case !behind:
				assert.False(t, strings.HasPrefix(name, "internal/search/"), "%s imports %s: import internal/search", importer, name)
			case !strings.HasPrefix(name, "internal/search/"):
				assert.Contains(t, belowSearch, name, "%s is of the read side and imports %s", importer, name)
			}
		}
		if behind {
			inside++
		}
	}
	require.GreaterOrEqual(t, inside, 4, "the packages of the read side were not found")
}
