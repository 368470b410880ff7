package record_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestGUIDsHoldPersons(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range []int64{0, 1, 4095, 4096, 1<<48 + 5, 1<<60 - 1} {
		guid := record.PersonGUID(id)
		parsed, err := uuid.Parse(guid)
		require.NoError(t, err)
		assert.Equal(t, uuid.Version(8), parsed.Version(), guid)
		assert.Equal(t, uuid.RFC4122, parsed.Variant(), guid)
		got, ok := record.PersonID(strings.ToUpper(guid))
		require.True(t, ok, guid)
		assert.Equal(t, id, got)
		assert.False(t, seen[guid])
		seen[guid] = true
	}
	assert.Equal(t, "00000000-0001-8234-8000-000000000002", record.PersonGUID(0x1234), "docs/guides/moving.md has this example")
	for _, other := range []string{"", "7", uuid.NewString(), record.Cursor(7), "{" + record.PersonGUID(7) + "}", strings.ReplaceAll(record.PersonGUID(7), "-", "")} {
		_, ok := record.PersonID(other)
		assert.False(t, ok, other)
	}
}

func TestCursorsHoldPositions(t *testing.T) {
	t.Parallel()
	changed, ok := record.ParseCursor(record.Cursor(1795949726678562))
	require.True(t, ok)
	assert.EqualValues(t, 1795949726678562, changed)
	for _, other := range []string{"", "7", uuid.NewString(), record.PersonGUID(7)} {
		_, ok := record.ParseCursor(other)
		assert.False(t, ok, other)
	}
}
