package commons_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons"
)

// Employment terms belonged to timekeeping once; such data is not read.
func TestDataOfOlderBuildsIsRefused(t *testing.T) {
	t.Parallel()
	sets, err := commons.Migrations()
	require.NoError(t, err)
	pgtest.RequireOlderRefused(t, sets, 30, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES (1, 1, 'P1', 'One', 'UTC', '')`)
}
