package architecture

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	goFile = regexp.MustCompile("`([\\w./-]+\\.go)`")
	// fence matches a block of code, where brackets are not links and # begins no heading.
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// notInAnchors matches the characters that the address of a heading lacks.
	notInAnchors = regexp.MustCompile(`[^\w\- ]`)
)

// page is a document without its blocks of code, and the anchors of its headings.
type page struct {
	text    string
	anchors map[string]bool
}

func readPages(t *testing.T, root fs.FS) map[string]page {
	t.Helper()
	pages := map[string]page{}
	require.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."), entry.Name() == "node_modules":
			return fs.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		p := page{text: fence.ReplaceAllString(string(text), ""), anchors: map[string]bool{}}
		for _, found := range heading.FindAllStringSubmatch(p.text, -1) {
			p.anchors[strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-")] = true
		}
		pages[name] = p
		return err
	}))
	return pages
}

// Every link of a document leads to a file of the repository, and to a heading in it.
func TestLinksLeadToFilesAndHeadings(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	pages := readPages(t, root)
	checked := 0
	for name, from := range pages {
		for _, found := range link.FindAllStringSubmatch(from.text, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // an address outside of the repository
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			_, err := fs.Stat(root, to)
			require.NoError(t, err, "%s links to %s", name, found[1])
			if known, isPage := pages[to]; isPage && anchor != "" {
				assert.True(t, known.anchors[anchor], "%s links to %s, and %s has no such heading", name, found[1], to)
			}
			checked++
		}
	}
	assert.Greater(t, checked, 100)
}

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
