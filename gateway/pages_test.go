package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

const paged = `
name: "paged.proto" package: "rotaloom.paged.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto" dependency: "google/api/annotations.proto"
message_type {
  name: "Ask"
  field { name: "before" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "before" }
  field { name: "after" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "after" }
  field { name: "updated_after" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "updated_after" }
  field { name: "name" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "name" }
}
message_type { name: "Things" options { [rotaloom.options.v1.message] { bare_array: "things" } }
  field { name: "things" number: 1 label: LABEL_REPEATED type: TYPE_STRING json_name: "things" } }
service {
  name: "ThingService"
  method { name: "List" input_type: ".rotaloom.paged.v1.Ask" output_type: ".rotaloom.paged.v1.Things"
    options { [google.api.http] { get: "/v1/paged/{name}" } [rotaloom.options.v1.method] { permission: "test.thing.write" pages: true } } }
  method { name: "Find" input_type: ".rotaloom.paged.v1.Ask" output_type: ".rotaloom.paged.v1.Things"
    options { [google.api.http] { post: "/v1/found" body: "*" } [rotaloom.options.v1.method] { permission: "test.thing.write" pages: true } } }
  method { name: "Silent" input_type: ".rotaloom.paged.v1.Ask" output_type: ".rotaloom.paged.v1.Things"
    options { [google.api.http] { get: "/v1/silent" } [rotaloom.options.v1.method] { permission: "test.thing.write" } } }
}`

func TestPagesAreLinked(t *testing.T) {
	t.Parallel()
	c := newContractServer(t, paged, "rotaloom.paged.v1.ThingService")
	var report func(ctx context.Context) error
	list := func(ctx context.Context, _ *dynamicpb.Message) (proto.Message, error) {
		return c.message(t, "Things", `things: "a"`), report(ctx)
	}
	c.methods = map[string]func(context.Context, *dynamicpb.Message) (proto.Message, error){"List": list, "Silent": list}
	cursors := func(prev, next string) func(context.Context) error {
		return func(ctx context.Context) error { return rpc.SetPage(ctx, rpc.Page{Prev: prev, Next: next}) }
	}
	number := func(n int32, more bool) func(context.Context) error {
		return func(ctx context.Context) error { return rpc.SetPageNumber(ctx, n, more) }
	}
	tests := []struct {
		name, path string
		report     func(context.Context) error
		want       string
	}{
		{"the only page", "/v1/paged/x", cursors("", ""), `<BASE/v1/paged/x>; rel="first"`},
		{
			"between two others", "/v1/paged/x?after=m&updated_after=2026-01-02", cursors("n", "o"),
			`<BASE/v1/paged/x?updated_after=2026-01-02>; rel="first", <BASE/v1/paged/x?before=n&updated_after=2026-01-02>; rel="prev", ` +
				`<BASE/v1/paged/x?after=o&updated_after=2026-01-02>; rel="next"`,
		},
		{
			"other parameters stay", "/api/v1/paged/x?other=1&other=2&before=z", cursors("", "o"),
			`<BASE/api/v1/paged/x?other=1&other=2>; rel="first", <BASE/api/v1/paged/x?after=o&other=1&other=2>; rel="next"`,
		},
		{
			"characters that end a link", `/v1/paged/%3E%22a?updated_after=%3E%22%2C%0D%0A`, cursors("", `>", <`),
			`<BASE/v1/paged/%3E%22a?updated_after=%3E%22%2C%0D%0A>; rel="first", <BASE/v1/paged/%3E%22a?after=%3E%22%2C+%3C&updated_after=%3E%22%2C%0D%0A>; rel="next"`,
		},
		{"the first number", "/v1/paged/x?per_page=5", number(1, true), `<BASE/v1/paged/x?page=1&per_page=5>; rel="first", <BASE/v1/paged/x?page=2&per_page=5>; rel="next"`},
		{"the last number", "/v1/paged/x?page=3", number(3, false), `<BASE/v1/paged/x?page=1>; rel="first", <BASE/v1/paged/x?page=2>; rel="prev"`},
		{"no report", "/v1/paged/x", func(context.Context) error { return nil }, ""},
		{"an error", "/v1/paged/x", func(ctx context.Context) error {
			return errors.Join(cursors("a", "b")(ctx), fault.NotFound("WRL-1", "None."))
		}, ""},
		{"a method without pages", "/v1/silent", cursors("a", "b"), ""},
	}
	c.overBoth(t, Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, func(t *testing.T, s *httptest.Server) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				report = test.report
				re := call(t, s, "GET", test.path, "", "Authorization", c.token)
				assert.Equal(t, strings.ReplaceAll(test.want, "BASE", s.URL), re.header.Get("Link"), re.body)
			})
		}
		for name, host := range map[string]struct{ named, want string }{
			"a proxy's host":            {"rota.example:8443", `<https://rota.example:8443/v1/paged/x>; rel="first"`},
			"a host with other letters": {`a>b`, `</v1/paged/x>; rel="first"`},
		} {
			t.Run(name, func(t *testing.T) {
				report = cursors("", "")
				re := call(t, s, http.MethodGet, "/v1/paged/x", "", "Authorization", c.token, "X-Forwarded-Host", host.named)
				require.Equal(t, 200, re.status, re.body)
				assert.Equal(t, host.want, re.header.Get("Link"))
			})
		}
	})
}

func TestLinksOfBodiesNameThePageInTheQuery(t *testing.T) {
	t.Parallel()
	c := newContractServer(t, paged, "rotaloom.paged.v1.ThingService")
	var got *dynamicpb.Message
	c.methods = map[string]func(context.Context, *dynamicpb.Message) (proto.Message, error){
		"Find": func(ctx context.Context, req *dynamicpb.Message) (proto.Message, error) {
			got = req
			return c.message(t, "Things", `things: "a"`), rpc.SetNextPage(ctx, "b c")
		},
	}
	c.overBoth(t, Config{}, func(t *testing.T, s *httptest.Server) {
		for name, test := range map[string]struct{ path, body, want, rest string }{
			"in the body":               {"/v1/found?other=1", `{"name":"n","after":"x"}`, `after:"x" name:"n"`, "&other=1"},
			"in the query":              {"/v1/found?after=y", `{"name":"n"}`, `after:"y" name:"n"`, ""},
			"the query replaces it":     {"/v1/found?after=y", `{"name":"n","after":""}`, `after:"y" name:"n"`, ""},
			"other values of the query": {"/v1/found?name=m", `{"name":"n"}`, `name:"n"`, "&name=m"},
		} {
			t.Run(name, func(t *testing.T) {
				re := call(t, s, http.MethodPost, test.path, test.body, "Authorization", c.token)
				require.Equal(t, 200, re.status, re.body)
				assert.True(t, proto.Equal(c.message(t, "Ask", test.want), got), "%v", got)
				assert.Equal(t, strings.ReplaceAll(`<BASE/v1/found?after=`+test.rest+`>; rel="first", <BASE/v1/found?after=b+c`+test.rest+`>; rel="next"`, "BASE", s.URL), re.header.Get("Link"))
			})
		}
		re := call(t, s, http.MethodPost, "/v1/found?after=y&after=z", `{}`, "Authorization", c.token)
		assert.Equal(t, 400, re.status, "the query names two pages")
	})
}
