package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// batchesOnPools lists the files that may send a batch to a pool, because the batch does not
// consist of several reads.
var batchesOnPools = map[string]string{
	"pkg/pg/unaudited.go":                                "only writes",
	"services/commons/internal/search/query/executor.go": "one query behind the settings that bound it",
}

// Each statement of a batch sees the database at another moment. pg.Snapshot makes all statements
// see the same moment.
func TestBatchesOfReadsAreSnapshots(t *testing.T) {
	t.Parallel()
	eachFile(t, func(name, path string) {
		if batchesOnPools[name] != "" {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.False(t, sendsBatchToPool(file), "%s: read with pg.Snapshot, or say here why not", name)
	})
}

// eachFile calls do for each Go file of pkg and of the services, except tests. Name is the file's
// path in the repository.
func eachFile(t *testing.T, do func(name, path string)) {
	t.Helper()
	for _, module := range workspace(t) {
		if strings.HasPrefix(module.path, "services/") || module.path == "pkg" {
			eachFileIn(t, module, do)
		}
	}
}

// eachModuleFile does the same for the files of one module.
func eachModuleFile(t *testing.T, path string, do func(name, path string)) {
	t.Helper()
	for _, module := range workspace(t) {
		if module.path == path {
			eachFileIn(t, module, do)
		}
	}
}

func eachFileIn(t *testing.T, of module, do func(name, path string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(of.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		within, err := filepath.Rel(of.dir, path)
		if err == nil {
			do(of.path+"/"+filepath.ToSlash(within), path)
		}
		return err
	}))
}

func sendsBatchToPool(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok || call.Sel.Name != "SendBatch" {
			return true
		}
		receiver := ""
		switch x := call.X.(type) {
		case *ast.Ident:
			receiver = x.Name
		case *ast.SelectorExpr:
			receiver = x.Sel.Name
		}
		found = found || strings.EqualFold(receiver, "pool")
		return true
	})
	return found
}
