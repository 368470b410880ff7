package contract_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// requireAudited requires an audit row in the service's database for every operation that writes
// and that a case has shown to succeed.
func requireAudited(t *testing.T, d *launch.Deployment, ran []contract.Case) {
	t.Helper()
	policies := policy.NewTable(nil)
	kept := map[string]map[string]bool{}
	for o := range succeededOperations(ran) {
		at := strings.LastIndexByte(o.Name, '.')
		operation := o.Name[:at] + "/" + o.Name[at+1:]
		method, err := policies.Method("/" + operation)
		require.NoError(t, err)
		if !method.Writes() {
			continue
		}
		service := strings.Split(operation, ".")[1]
		if service == "udm" { // The domain has no service of its own.
			service = "timekeeping"
		}
		if kept[service] == nil {
			kept[service] = auditedOperations(t, d.Postgres.AdminURL(service))
		}
		if operation == stateReport {
			assert.False(t, kept[service][operation], "%s is audited", operation)
			continue
		}
		assert.True(t, kept[service][operation], "%s writes without an audit row", operation)
	}
}

// stateReport is the operation that writes without an audit row. Devices send it every five minutes, and it
// changes no setup.
const stateReport = "rotaloom.udm.v1.DeviceClientService/ReportDeviceState"

// succeededOperations returns the operations that succeed in one of the cases.
func succeededOperations(ran []contract.Case) map[*contract.Operation]bool {
	operations, found := contract.Operations(), map[*contract.Operation]bool{}
	for _, c := range ran {
		for _, step := range c.Steps {
			if o, _ := contract.Called(operations, step); o != nil && step.Status < http.StatusBadRequest {
				found[o] = true
			}
		}
	}
	return found
}

// auditedOperations returns the operations that have rows in a database.
func auditedOperations(t *testing.T, url string) map[string]bool {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, `SELECT DISTINCT operation FROM audit_event WHERE outcome = 'ok'`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	found := make(map[string]bool, len(names))
	for _, name := range names {
		found[name] = true
	}
	return found
}
