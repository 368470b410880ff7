package architecture

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// namesServices match names of services in a file, in any letter case.
var namesServices = func() (out []*regexp.Regexp) {
	for _, service := range order {
		if service != "gateway" && service != "standalone" {
			out = append(out, regexp.MustCompile(`(?i)(\b|_)`+service+`(\b|v1|_|Target)`))
		}
	}
	return out
}()

// namesAll reports whether a text names every service.
func namesAll(text []byte) bool {
	return !slices.ContainsFunc(namesServices, func(r *regexp.Regexp) bool { return !r.Match(text) })
}

// describesServices reports whether a file names every service but needs no manual change for a new
// one.
func describesServices(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return top == "docs" || top == "tests" && strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tests/contract/") ||
		strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".sum") ||
		strings.HasPrefix(path, "proto/gen/") || strings.HasPrefix(path, "proto/api/")
}

// The list of docs/add-a-service.md is complete, and each of its files names every service.
func TestAddingAService(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "add-a-service.md"))
	require.NoError(t, err)
	_, list, ok := bytes.Cut(page, []byte("## Files that name every service"))
	require.True(t, ok)
	var listed []string
	for _, match := range regexp.MustCompile("`([\\w./-]+/[\\w./-]+|Makefile|go\\.work)`").FindAllSubmatch(list, -1) {
		listed = append(listed, string(match[1]))
	}
	require.Greater(t, len(listed), 20)
	for _, path := range listed {
		text, err := os.ReadFile(filepath.Join(root, path))
		if assert.NoError(t, err, "docs/add-a-service.md lists %s", path) {
			assert.True(t, namesAll(text), "%s does not name every service: docs/add-a-service.md need not list it", path)
		}
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && name != "." && name != ".ci"
			if hidden || slices.Contains([]string{"bin", "node_modules", "testdata"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if describesServices(name) || !entry.Type().IsRegular() || slices.Contains(listed, name) {
			return nil
		}
		info, err := entry.Info()
		require.NoError(t, err)
		if info.Size() > 1<<20 {
			return nil
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.False(t, namesAll(text), "%s names every service: list it in docs/add-a-service.md", name)
		return nil
	}))
}
