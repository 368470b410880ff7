package architecture

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pages of decisions are numbered one after another, and the index lists each
// of them under its number and its title.
func TestDecisionsAreNumberedAndListed(t *testing.T) {
	t.Parallel()
	const folder = "../../docs/decisions"
	pages, err := filepath.Glob(filepath.Join(folder, "[0-9]*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	for i, page := range pages {
		name := filepath.Base(page)
		assert.True(t, strings.HasPrefix(name, fmt.Sprintf("%04d-", i+1)), "%s is not number %d", name, i+1)
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		title, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(title, fmt.Sprintf("# %d. ", i+1))
		assert.True(t, ok, "%s has no title with its number", name)
		assert.Contains(t, string(index), fmt.Sprintf("| %d | [%s](%s) |", i+1, title, name), "docs/decisions/README.md lacks it")
	}
	assert.Equal(t, len(pages), strings.Count(string(index), "](0"), "the index lists a page that is not there")
}

// docs/README.md leads to every page but the decisions, which have an index of their own.
func TestDocumentationIsListed(t *testing.T) {
	t.Parallel()
	const folder = "../../docs"
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path) // It lies below.
		if entry.IsDir() && name == "decisions" {
			return fs.SkipDir
		}
		if filepath.Ext(name) == ".md" && name != "README.md" {
			assert.Contains(t, string(index), "]("+filepath.ToSlash(name)+")", "docs/README.md lacks it")
		}
		return err
	}))
}
