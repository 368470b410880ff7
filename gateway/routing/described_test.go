package routing_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/pkg/policy"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Links all of them.
	"github.com/rotaloom/rotaloom/proto/gen/openapi"
)

// The API description names Idempotency-Key, If-Match and Prefer for the routes that honor them, and for no others. The
// generator of the description has its own form of these rules, because contracts import no package of the edge.
func TestTheDescriptionNamesTheRequestHeaders(t *testing.T) {
	t.Parallel()
	var described struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Ref string `json:"$ref"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(openapi.JSON, &described))
	routes := map[string]int{}
	forEachRoute(t, func(r *routing.Route) {
		names := map[string]bool{}
		for _, p := range described.Paths[r.Path][strings.ToLower(r.Method)].Parameters {
			names[p.Ref[strings.LastIndex(p.Ref, "/")+1:]] = true
		}
		for name, honored := range honoredHeaders(r) {
			assert.Equal(t, honored, names[name], "%s %s: %s", r.Method, r.Path, name)
			if honored {
				routes[name]++
			}
		}
	})
	assert.Greater(t, routes["Idempotency-Key"], 100)
	assert.Greater(t, routes["If-Match"], 10)
	assert.Positive(t, routes["Prefer"])
}

// honoredHeaders reports for each request header whether a route honors it.
func honoredHeaders(r *routing.Route) map[string]bool {
	return map[string]bool{
		"Idempotency-Key": r.TakesKey(), "If-Match": r.Policy.TakesIfMatch(r.Method, r.Path), "Prefer": r.Policy.Waits,
	}
}

// forEachRoute calls visit with each route of the contracts.
func forEachRoute(t *testing.T, visit func(*routing.Route)) {
	t.Helper()
	policies := policy.NewTable(nil)
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				for _, rule := range routing.Rules(methods.Get(k)) {
					p, err := policies.Method(fmt.Sprintf("/%s/%s", file.Services().Get(i).FullName(), methods.Get(k).Name()))
					require.NoError(t, err)
					r := &routing.Route{Policy: p}
					r.Method, r.Path = routing.MethodAndPath(rule)
					visit(r)
				}
			}
		}
		return true
	})
}
