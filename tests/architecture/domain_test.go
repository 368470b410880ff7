package architecture

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// domainFree are the contracts that belong to no domain: options, refs and details of
// errors, and the services that every service has.
var domainFree = []string{"audit", "common", "options", "replication"}

// domainUsers are the packages under pkg/ that may use those of pkg/domain.
var domainUsers = map[string]string{
	"pkg/serve": "puts together the programs of the services",
}

// The building blocks know no domain: neither its messages nor what services share
// of it, which stands in pkg/domain.
func TestBuildingBlocksKnowNoDomain(t *testing.T) {
	t.Parallel()
	decoder := json.NewDecoder(strings.NewReader(run(t, "../../pkg", "go", "list", "-json=ImportPath,Imports", "./...")))
	seen := 0
	for decoder.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		require.NoError(t, decoder.Decode(&p))
		name := strings.TrimPrefix(p.ImportPath, root)
		if strings.HasPrefix(name, "pkg/domain/") {
			continue
		}
		seen++
		for _, imported := range p.Imports {
			if contract, ok := strings.CutPrefix(imported, root+"proto/gen/rotaloom/"); ok {
				domain, _, _ := strings.Cut(contract, "/")
				assert.Contains(t, domainFree, domain, "%s knows the messages of %s: move it to pkg/domain or to the service", name, domain)
			}
			assert.False(t, strings.HasPrefix(imported, root+"pkg/domain/") && domainUsers[name] == "", "%s uses %s", name, imported)
		}
	}
	assert.Greater(t, seen, 20)
	assert.True(t, slices.IsSorted(domainFree))
}
