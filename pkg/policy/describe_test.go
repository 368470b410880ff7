package policy_test

import (
	"strings"
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

// routed has one operation, RULE.
const routed = `
name: "routed.proto" package: "rotaloom.policytest.v1" syntax: "proto3"
dependency: "google/api/annotations.proto"
message_type { name: "None" }
service {
  name: "Routes"
  method { name: "A" input_type: ".rotaloom.policytest.v1.None" output_type: ".rotaloom.policytest.v1.None"
    options { [google.api.http] { RULE } } }
}`

func TestOperationsOfEveryKindOfRoute(t *testing.T) {
	t.Parallel()
	for route, rule := range map[string]string{
		"GET /x": `get: "/x"`, "POST /x": `post: "/x"`, "PUT /x": `put: "/x"`, "DELETE /x": `delete: "/x"`, "PATCH /x": `patch: "/x"`,
		"HEAD /x": `custom { kind: "HEAD" path: "/x" }`,
	} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			files := policytest.Files(t, strings.Replace(routed, "RULE", rule, 1))
			operations, err := policy.NewTable(files).Operations()
			require.NoError(t, err)
			require.Len(t, operations, 1)
			assert.Equal(t, route, operations[0].Route)
		})
	}
}
