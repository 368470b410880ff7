package routing

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
)

func TestRouterRefusesTheSameRouteTwice(t *testing.T) {
	t.Parallel()
	var rt Router
	first := &Route{Method: http.MethodGet, Policy: &policy.Method{Name: "/first"}}
	require.NoError(t, rt.add([]string{"v1", ""}, first))
	require.NoError(t, rt.add([]string{"v1", ""}, &Route{Method: http.MethodPut, Policy: &policy.Method{}}))
	require.ErrorContains(t, rt.add([]string{"v1", ""}, &Route{Method: http.MethodGet, Policy: &policy.Method{}}), "/first")
}

func TestLiteralSegmentsGoBeforeParameters(t *testing.T) {
	t.Parallel()
	var rt Router
	literal, param := &Route{Method: http.MethodGet, Policy: &policy.Method{}}, &Route{Method: http.MethodGet, Policy: &policy.Method{}}
	require.NoError(t, rt.add([]string{"v1", ""}, param))
	require.NoError(t, rt.add([]string{"v1", "new"}, literal))
	tests := []struct {
		name, path string
		route      *Route
		values     []string
	}{
		{"a literal", "/v1/new", literal, []string{}},
		{"a parameter", "/v1/7", param, []string{"7"}},
		{"an escaped slash", "/v1/a%2Fb", param, []string{"a/b"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			route, values, none := rt.Find(http.MethodGet, test.path)
			require.Nil(t, none)
			assert.Same(t, test.route, route)
			assert.Equal(t, test.values, values)
		})
	}
	_, _, none := rt.Find(http.MethodPost, "/v1/7")
	require.NotNil(t, none)
	assert.Equal(t, "GET", none.Allow)
}
