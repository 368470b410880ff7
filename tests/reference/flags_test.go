package reference

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// otherFlags are flags of other programs, which the documents and the code run.
var otherFlags = map[string]string{
	"auth": "initdb", "encoding": "initdb", "locale": "initdb", "no-instructions": "initdb", "no-sync": "initdb", "data-checksums": "initdb",
	"cacert": "curl", "fail-with-body": "curl", "data-urlencode": "curl", "retry": "curl", "compressed": "curl", "no-buffer": "curl",
	"check": "sha256sum", "ignore-missing": "sha256sum", "now": "systemctl",
	"namespace": "helm", "create-namespace": "helm", "set": "helm", "values": "helm", "wait": "helm", "reuse-values": "helm",
	"dbname": "pg_basebackup", "pgdata": "pg_basebackup", "checkpoint": "pg_basebackup", "format": "pg_dump", "file": "pg_dump", "clean": "pg_restore", "if-exists": "pg_restore",
	"exit-on-error": "pg_restore", "no-owner": "pg_restore", "no-privileges": "pg_restore", "role": "pg_restore", "create": "pg_restore", "snapshot": "pg_dump",
	"all": "httpYac", "env": "httpYac", "env-file": "docker compose", "experimental-strip-types": "node", "enable-feature": "prometheus",
	"help": "every program", "version": "every program",
}

var (
	flagText  = regexp.MustCompile(`(?:^|[\s"'(\x60=|])--([a-z][a-z0-9-]*[a-z0-9])`)
	arrow     = regexp.MustCompile(`--[^\s-]+-->`)
	knownFlag = regexp.MustCompile(`--(?:\[no-\])?([a-z][a-z0-9-]*[a-z0-9])`)
)

// Documents, errors, help and log lines name the flags that the programs have. Those are on the
// page of settings, which [TestEverySettingIsOnThePage] makes from the programs.
func TestFlagsAreThoseOfThePrograms(t *testing.T) {
	t.Parallel()
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, match := range knownFlag.FindAllStringSubmatch(string(page), -1) {
		known[match[1]] = true
	}
	require.Greater(t, len(known), 100)
	seen := 0
	check := func(where, text string) {
		for _, match := range flagText.FindAllStringSubmatch(arrow.ReplaceAllString(text, ""), -1) {
			name := match[1]
			seen++
			if otherFlags[name] == "" && !known[name] {
				assert.True(t, known[strings.TrimPrefix(name, "no-")], "%s: no program has a flag --%s", where, name)
			}
		}
	}
	for _, folder := range []string{"docs", "deploy", "gateway", "pkg", "services", "README.md", "CONTRIBUTING.md"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			switch filepath.Ext(path) {
			case ".md":
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				check(path, string(text))
			case ".go":
				if !strings.HasSuffix(path, "_test.go") {
					eachLiteral(t, path, func(line int, text string) { check(path+":"+strconv.Itoa(line), text) })
				}
			}
			return nil
		}))
	}
	assert.Greater(t, seen, 200)
}

// eachLiteral calls f for each text in the code of a file.
func eachLiteral(t *testing.T, path string, f func(line int, text string)) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		require.NoError(t, err, path)
		f(files.Position(literal.Pos()).Line, text)
		return true
	})
}
