package scheduling_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/scheduling"
)

// Employment terms belonged to timekeeping once; such data is not read.
func TestDataOfOlderBuildsIsRefused(t *testing.T) {
	t.Parallel()
	sets, err := scheduling.Migrations()
	require.NoError(t, err)
	pgtest.RequireOlderRefused(t, sets, 33, `INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version) VALUES (1, 1, 'P1', 'One', 'UTC', 1)`)
}
