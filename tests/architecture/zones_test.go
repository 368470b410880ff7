package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fromTheMachine lists the names of package time that read the machine's time zones.
var fromTheMachine = []string{"LoadLocation", "Local"}

// zoneSQL matches calculations with a time zone in SQL. Sessions have UTC.
var zoneSQL = regexp.MustCompile(`(?i)\bAT TIME ZONE\b|\bSET (LOCAL |SESSION )?TIME ?ZONE\b|\bmake_timestamptz\b`)

// Two machines must calculate the same instants. So time zones come from the database inside the
// programs (pkg/tzdb), and never from the machine.
func TestTimeZonesComeFromThePinnedDatabase(t *testing.T) {
	t.Parallel()
	for _, module := range workspace(t) {
		err := filepath.WalkDir(module.dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || path == filepath.Join(module.dir, "gen")):
				return filepath.SkipDir
			case filepath.Ext(path) != ".go" && filepath.Ext(path) != ".sql" || filepath.Base(path) == "zones_test.go":
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if zoneSQL.Match(text) {
				t.Errorf("%s: PostgreSQL has a time zone database of its own, so it must not calculate with zones", path)
			}
			if filepath.Ext(path) == ".sql" {
				return nil
			}
			for _, found := range machineZones(t, path) {
				t.Errorf("%s: use package tzdb", found)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// machineZones returns the places where a file reads the machine's time zones.
func machineZones(t *testing.T, path string) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	name := ""
	for _, spec := range file.Imports {
		switch imported, _ := strconv.Unquote(spec.Path.Value); {
		case imported == "time/tzdata":
			found = append(found, files.Position(spec.Pos()).String()+": time/tzdata")
		case imported == "time" && spec.Name != nil:
			name = spec.Name.Name
		case imported == "time":
			name = "time"
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || name == "" {
			return true
		}
		of, ok := selector.X.(*ast.Ident)
		for _, forbidden := range fromTheMachine {
			if ok && of.Name == name && selector.Sel.Name == forbidden {
				found = append(found, files.Position(selector.Pos()).String()+": time."+forbidden)
			}
		}
		return true
	})
	return found
}
