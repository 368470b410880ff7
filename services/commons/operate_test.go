package commons_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons"
)

func TestOperatorsAskForABackfill(t *testing.T) {
	t.Parallel()
	sets, err := commons.Migrations()
	require.NoError(t, err)
	pool := pgtest.New(t, sets...)
	backfill := func(tenantID int64, topics ...string) (string, error) {
		var out bytes.Buffer
		command := replica.BackfillCommand{Topics: topics, Tenant: tenantID}
		err := command.Do(t.Context(), pool.Config(), commons.Copies(nil), pgtest.Log(t), &out)
		return out.String(), err
	}
	said, err := backfill(2, "schedule_spans")
	require.NoError(t, err)
	assert.Equal(t, "tenant 2: the service requests schedule_spans within seconds\n", said)
	_, err = backfill(1)
	require.NoError(t, err)
	_, err = backfill(1, "dreams")
	require.ErrorContains(t, err, "no topic")
	ofProgram := &serve.Backfill{BackfillCommand: replica.BackfillCommand{Topics: []string{"memberships"}, Tenant: 99}}
	database := pool.Config()
	ofProgram.Configure(&database, commons.Copies)
	var out bytes.Buffer
	require.ErrorContains(t, ofProgram.Do(t.Context(), pgtest.Log(t), &out), "no data of a tenant 99")
	require.Empty(t, out.String())
	ofProgram.Force = true
	require.NoError(t, ofProgram.Do(t.Context(), pgtest.Log(t), &out))
	ofProgram.Force = false
	require.NoError(t, ofProgram.Do(t.Context(), pgtest.Log(t), &out), "the audit log now has a row of the tenant")
	var wanted []string
	require.NoError(t, pool.QueryRow(tenant.All(t.Context()), `SELECT array_agg(tenant_id || ' ' || topic ORDER BY 1) FROM replica_gap WHERE key = 0`).Scan(&wanted))
	assert.ElementsMatch(t, []string{
		"1 employment_terms", "1 memberships", "1 schedule_patterns", "1 schedule_spans", "1 entered_shifts", "1 schedule_leave", "1 device_groups", "1 timecard_signoffs", "2 schedule_spans", "99 memberships",
	}, wanted)
}
