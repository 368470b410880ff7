package policy

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPermissionsAreThoseOfTheContracts(t *testing.T) {
	t.Parallel()
	all := NewTable(nil).Permissions()
	assert.True(t, slices.IsSorted(all))
	assert.Contains(t, all, "timekeeping.employment_term.write")
	assert.NotContains(t, all, "")
	assert.Len(t, slices.Compact(slices.Clone(all)), len(all))
}
