package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// renamedLater matches the columns that a decision lists, by their module.
var renamedLater = regexp.MustCompile(`(?m)^\| (\w+) (\w+\.\w+) \| (\w+) \|$`)

func TestColumnsToBeRenamedHaveComments(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "decisions", "0101-columns-are-renamed-at-a-schema-break.md"))
	require.NoError(t, err)
	columns := renamedLater.FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(columns), 20)
	for _, column := range columns {
		t.Run(column[2], func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(root, "*", column[1], "migrations", "*_column_comments.sql"))
			require.NoError(t, err)
			require.NotEmpty(t, files)
			var text []byte
			for _, file := range files {
				more, err := os.ReadFile(file)
				require.NoError(t, err)
				text = append(text, more...)
			}
			assert.Contains(t, string(text), "COMMENT ON COLUMN "+column[2]+" IS '")
		})
	}
}
