package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

func TestOperationsNameTheirLimits(t *testing.T) {
	t.Parallel()
	operations, err := policy.NewTable(policytest.Files(t, contract)).Operations()
	require.NoError(t, err)
	require.Len(t, operations, 1, "those with a route")
	assert.Equal(t, policy.Operation{
		Route: "POST /x",
		Limits: []policy.Bound{
			{Counted: "employees * days", Max: 100, Code: "WFP-90001", Status: 413},
			{Counted: "days", Max: 30, Code: "WCO-112010", Status: 400},
			{Counted: "days", Max: 20, Code: "WCO-112010", Status: 400},
			{Counted: "ids", Property: "ids", Max: 3, Code: "WFP-90003", Status: 413},
		},
	}, operations[0])
}
