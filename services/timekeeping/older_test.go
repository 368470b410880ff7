package timekeeping_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// Employment terms belonged to timekeeping once; such data is not read.
func TestDataOfOlderBuildsIsRefused(t *testing.T) {
	t.Parallel()
	sets, err := timekeeping.Migrations()
	require.NoError(t, err)
	pgtest.RequireOlderRefused(t, sets, 25, `INSERT INTO person (tenant_id, id, person_number, version, time_zone) VALUES (1, 1, 'P1', 1, 'UTC')`)
}
