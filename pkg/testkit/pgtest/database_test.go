package pgtest

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
)

// A template of another schema would hide a mistake in a migration.
func TestEachSchemaHasATemplate(t *testing.T) {
	t.Parallel()
	set := func(table, file, text string) []pg.Migrations {
		return []pg.Migrations{{Table: table, FS: fstest.MapFS{file: {Data: []byte(text)}}}}
	}
	sum := func(before string, sets []pg.Migrations) string {
		out, err := fingerprint(before, sets)
		require.NoError(t, err)
		return out
	}
	one := sum("FUNCTION", set("a", "1.sql", "TABLE"))
	assert.Equal(t, one, sum("FUNCTION", set("a", "1.sql", "TABLE")))
	for name, other := range map[string]string{
		"another function of tenants": sum("FUNCTION 2", set("a", "1.sql", "TABLE")),
		"another table of versions":   sum("FUNCTION", set("b", "1.sql", "TABLE")),
		"another name":                sum("FUNCTION", set("a", "2.sql", "TABLE")),
		"another text":                sum("FUNCTION", set("a", "1.sql", "TABLE 2")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.NotEqual(t, one, other)
		})
	}
}
