package architecture

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// domainFree lists the contracts that belong to no domain: options, references and details of
// errors, and the operations that every service has.
var domainFree = []string{"audit", "common", "options", "replication"}

// domainUsers lists the packages under pkg/ that may use those under pkg/domain.
var domainUsers = map[string]string{
	"pkg/serve": "puts together the programs of the services",
}

// The building blocks do not depend on the domain: neither on its messages, nor on the code that
// services share, which is in pkg/domain.
func TestBuildingBlocksDoNotDependOnTheDomain(t *testing.T) {
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
