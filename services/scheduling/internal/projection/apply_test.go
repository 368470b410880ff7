package projection

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

func TestOnlyNewerPersonsAreStored(t *testing.T) {
	w := newFixture(t)
	w.persons(person(7, 2, "P7b"), person(7, 1, "P7a"), person(8, 1, "P8"))
	w.persons(person(7, 1, "P7a"))
	found, err := w.EmployeesByList(w.ctx, nil)
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, "P7b", found[0].PersonNumber)
	assert.Equal(t, "Europe/Zurich", found[0].Zone.Name())
	assert.Equal(t, int64(8), found[1].ID)
}

// Rows of one tenant do not exist for another tenant.
func TestTenantsAreApart(t *testing.T) {
	w := newFixture(t)
	w.persons(person(7, 1, "P7"))
	other := tenant.With(t.Context(), 2)
	found, err := w.EmployeesByList(other, nil)
	require.NoError(t, err)
	assert.Empty(t, found)
}
