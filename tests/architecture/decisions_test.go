package architecture

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each page of decisions has a unique number. The index lists each page under its number and its
// title, and there are at most 40. Numbers may be missing, because concurrent changes take theirs
// from separate ranges.
func TestDecisionsAreNumberedAndListed(t *testing.T) {
	t.Parallel()
	const folder = "../../docs/decisions"
	pages, err := filepath.Glob(filepath.Join(folder, "[0-9]*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	assert.LessOrEqual(t, len(pages), 40, "move notes on one resource into the README of its service, and merge pages of one topic")
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	last := 0
	for _, page := range pages { // The pages are sorted by name.
		name := filepath.Base(page)
		number, err := strconv.Atoi(name[:4])
		require.NoError(t, err, name)
		assert.Greater(t, number, last, "%s has the number of another page", name)
		last = number
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		title, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(title, fmt.Sprintf("# %d. ", number))
		assert.True(t, ok, "%s has no title with its number", name)
		assert.Contains(t, string(index), fmt.Sprintf("| %d | [%s](%s) |", number, title, name), "docs/decisions/README.md lacks it")
	}
	assert.Equal(t, len(pages), strings.Count(string(index), "](0"), "the index lists a page that is not there")
}

// docs/README.md links every page except the decisions, which have an index of their own.
func TestDocumentationIsListed(t *testing.T) {
	t.Parallel()
	const folder = "../../docs"
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path) // The page lies below the folder.
		if entry.IsDir() && name == "decisions" {
			return fs.SkipDir
		}
		if filepath.Ext(name) == ".md" && name != "README.md" {
			assert.Contains(t, string(index), "]("+filepath.ToSlash(name)+")", "docs/README.md lacks it")
		}
		return err
	}))
}
