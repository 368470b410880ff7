package architecture

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scheduleImports lists the packages of a schedule, with the other ones that each may import.
// Package window is the model: reading and encoding share it and do not import each other.
var scheduleImports = map[string][]string{
	"segment":    {},
	"storedrows": {"window"},
	"request":    {},
	"window":     {"segment"},
	"reading":    {"request", "segment", "storedrows", "window"},
	"encoding":   {"request", "window"},
	"schedule":   {"encoding", "reading", "request", "storedrows", "window"},
	// An explanation comes from the steps of the same read.
	"explanation": {"reading", "request", "window"},
}

func TestReadersAndWritersOfSchedulesShareOnlyTheModel(t *testing.T) {
	t.Parallel()
	const dir = "services/scheduling/internal/schedule"
	decoder := json.NewDecoder(strings.NewReader(run(t, "../..", "go", "list", "-json=ImportPath,Imports", "./"+dir+"/...")))
	seen := 0
	for decoder.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		require.NoError(t, decoder.Decode(&p))
		name := path.Base(p.ImportPath)
		may, known := scheduleImports[name]
		assert.True(t, known, "package %s is new: add the packages that it may import", name)
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, root+dir+"/") {
				assert.Contains(t, may, path.Base(imported), "package %s must not import %s", name, imported)
			}
		}
		seen++
	}
	assert.Len(t, scheduleImports, seen)
}
