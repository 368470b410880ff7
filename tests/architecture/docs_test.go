package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var goFile = regexp.MustCompile("`([\\w./-]+\\.go)`")

// Every Go file that a document names exists. The README of a folder names files below that folder.
func TestDocumentsNameFilesThatAreThere(t *testing.T) {
	t.Parallel()
	var documents, sources []string
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."), entry.Name() == "node_modules":
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			documents = append(documents, path)
		case filepath.Ext(path) == ".go":
			sources = append(sources, path)
		}
		return nil
	}))
	require.NotEmpty(t, documents)
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join("../..", document))
		require.NoError(t, err)
		below := ""
		if folder := filepath.Dir(document); folder != "." && !strings.HasPrefix(document, "docs/") {
			below = folder + "/"
		}
		for _, named := range goFile.FindAllStringSubmatch(string(text), -1) {
			assert.True(t, isThere(sources, below, named[1]), "%s names %s, which is not there", document, named[1])
		}
	}
}

// isThere reports whether a source below a folder has a name, or a path that ends with it.
func isThere(sources []string, below, name string) bool {
	for _, source := range sources {
		if strings.HasPrefix(source, below) && strings.HasSuffix("/"+source, "/"+name) {
			return true
		}
	}
	return false
}
