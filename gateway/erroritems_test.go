package gateway

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/sizes"
)

// itemized is a contract whose operations answer errors as items.
const itemized = `
name: "itemized.proto" package: "rotaloom.itemized.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto" dependency: "google/api/annotations.proto"
options { [rotaloom.options.v1.file] { error_items: true } }
message_type {
  name: "Thing"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 json_name: "id" }
  field { name: "head_count" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "head_count"
          options { [rotaloom.options.v1.field] { ranges { min: 0 max: 9 code: "WRL-1" } } } }
  field { name: "start_date" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "start_date"
          options { [rotaloom.options.v1.field] { format: FORMAT_DATE } } }
  field { name: "title" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "title"
          options { [rotaloom.options.v1.field] { length { max: 5 code: "WRL-2" } } } }
  field { name: "guid" number: 6 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "guid"
          options { [rotaloom.options.v1.field] { format: FORMAT_GUID } } }
  field { name: "updated_after" number: 7 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "updated_after"
          options { [rotaloom.options.v1.field] { format: FORMAT_DATE_OR_INSTANT } } }
  field { name: "parts" number: 5 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.itemized.v1.Thing" json_name: "parts"
          options { [rotaloom.options.v1.field] { limit { max: 2 code: "WRL-3" } } } }
}
service {
  name: "ThingService"
  method { name: "PutThing" input_type: ".rotaloom.itemized.v1.Thing" output_type: ".rotaloom.itemized.v1.Thing"
    options { [google.api.http] { put: "/v1/itemized/things/{id}" body: "*" } [rotaloom.options.v1.method] { permission: "test.thing.write" } } }
  method { name: "ListThings" input_type: ".rotaloom.itemized.v1.Thing" output_type: ".rotaloom.itemized.v1.Thing"
    options { [google.api.http] { get: "/v1/itemized/things" } [rotaloom.options.v1.method] { permission: "test.thing.write" } } }
  method { name: "GetThing" input_type: ".rotaloom.itemized.v1.Thing" output_type: ".rotaloom.itemized.v1.Thing"
    options { [google.api.http] { get: "/v1/itemized/guids/{guid}" } [rotaloom.options.v1.method] { permission: "test.thing.write" } } }
  method { name: "Forbidden" input_type: ".rotaloom.itemized.v1.Thing" output_type: ".rotaloom.itemized.v1.Thing"
    options { [google.api.http] { get: "/v1/itemized/forbidden" } [rotaloom.options.v1.method] { permission: "test.other.read" } } }
}`

func TestErrorItems(t *testing.T) {
	t.Parallel()
	c := newContractServer(t, itemized, "rotaloom.itemized.v1.ThingService")
	failures := map[int64]error{
		11: fault.Invalid("WRL-4", "Wrong \"dates\".").WithMembers("start_date", "parts[0].start_date"),
		12: fault.NotFound("WRL-5", "None."),
		13: fault.Conflict("WRL-6", "Taken."),
		14: fault.New("WRL-7", 412, "Changed."),
		15: fault.Unavailable("Away.", time.Second),
		16: assert.AnError,
		17: fault.TooMany("Slower.", time.Second),
	}
	c.methods = map[string]func(context.Context, *dynamicpb.Message) (proto.Message, error){
		"PutThing": func(_ context.Context, req *dynamicpb.Message) (proto.Message, error) {
			return req, failures[req.Get(req.Descriptor().Fields().ByName("id")).Int()]
		},
	}
	c.methods["GetThing"] = func(_ context.Context, req *dynamicpb.Message) (proto.Message, error) { return req, nil }
	const at = "/v1/itemized/things/1"
	item := func(kind, code, members string) string {
		return `[{"type":` + kind + `,"message_code":"` + code + `","member_names":[` + members + `],"message":"`
	}
	tests := []struct {
		name, method, path, body string
		status                   int
		want                     string // the beginning
	}{
		{"success", "PUT", at, `{"head_count":3}`, 200, `{"id":1,"head_count":3}`},
		{"an unknown property", "PUT", at, `{"parts":[{},{"headCount":1}]}`, 400, item("1", fault.CodeUnknownProperty, `"parts[1].headCount"`)},
		{"a long name that is shortened within a character", "PUT", at, `{"` + strings.Repeat("x", 79) + `ä":1}`, 400, item("1", fault.CodeUnknownProperty, `"`+strings.Repeat("x", 79)+`..."`)},
		{"a wrong type", "PUT", at, `{"head_count":"x"}`, 400, item("1", fault.CodeValue, `"head_count"`)},
		{"a wrong structure", "PUT", at, `{"head_count":{}}`, 400, item("1", fault.CodeStructure, `"head_count"`)},
		{"no JSON", "PUT", at, `{`, 400, item("1", fault.CodeValue, "")},
		{"a range", "PUT", at, `{"head_count":10}`, 400, item("1", "WRL-1", `"head_count"`)},
		{"a length", "PUT", at, `{"parts":[{"title":"123456"}]}`, 400, item("1", "WRL-2", `"parts[0].title"`)},
		{"a format", "PUT", at, `{"start_date":"2026-02-30"}`, 400, item("1", fault.CodeDate, `"start_date"`)},
		{"a limit", "PUT", at, `{"parts":[{},{},{}]}`, 413, item("5", "WRL-3", `"parts"`)},
		{"a format in the query", "GET", "/v1/itemized/things?start_date=x", "", 400, item("1", fault.CodeDate, `"start_date"`)},
		{"a type in the query", "GET", "/v1/itemized/things?head_count=x", "", 400, item("1", fault.CodeValue, `"head_count"`)},
		{"an id that cannot exist", "PUT", "/v1/itemized/things/x", `{}`, 404, item("2", fault.CodeNotFound, `"id"`)},
		{"a GUID", "GET", "/v1/itemized/guids/8f0c2a10-5A11-4d0e-9a35-0f6e2b7d1c01?updated_after=2026-01-02T03:04:05Z", "", 200, `{"guid":"8f0c2a10-5A11-4d0e-9a35-0f6e2b7d1c01","updated_after":"2026-01-02T03:04:05Z"}`},
		{"an id that is no GUID", "GET", "/v1/itemized/guids/8f0c2a10", "", 404, item("2", fault.CodeNotFound, `"guid"`)},
		{"a GUID in a body", "PUT", at, `{"parts":[{"guid":"x"}]}`, 400, item("1", fault.CodeValue, `"parts[0].guid"`)},
		{"a moment without its zone", "GET", "/v1/itemized/things?updated_after=2026-01-02T03:04:05", "", 400, item("1", fault.CodeDate, `"updated_after"`)},
		{"a path near the operations", "GET", "/v1/itemized/nothing", "", 404, item("2", fault.CodeNotFound, "")},
		{"a method that the path does not support", "DELETE", at, "", 405, item("1", fault.CodeMethodNotAllowed, "")},
		{"a path elsewhere", "GET", "/v1/nothing", "", 404, `{"errorCode":"WRL-00404"`},
		{"no permission", "GET", "/v1/itemized/forbidden", "", 403, item("4", fault.CodeNoAccess, "")},
		{"a large body", "PUT", at, `{"title":"` + string(make([]byte, 2000)) + `"}`, 413, item("5", fault.CodeTooLarge, "")},
		{"a fault of the service", "PUT", "/v1/itemized/things/11", `{}`, 400, item("1", "WRL-4", `"start_date","parts[0].start_date"`) + `Wrong \"dates\"."}]`},
		{"an unknown object", "PUT", "/v1/itemized/things/12", `{}`, 404, item("2", "WRL-5", "")},
		{"a conflict", "PUT", "/v1/itemized/things/13", `{}`, 409, item("3", "WRL-6", "")},
		{"another version", "PUT", "/v1/itemized/things/14", `{}`, 412, item("3", "WRL-7", "")},
		{"a service that is away", "PUT", "/v1/itemized/things/15", `{}`, 503, item("6", fault.CodeUnavailable, "")},
		{"a failure", "PUT", "/v1/itemized/things/16", `{}`, 500, item("6", fault.CodeInternal, "")},
		{"too many requests", "PUT", "/v1/itemized/things/17", `{}`, 429, item("5", fault.CodeThrottled, "")},
	}
	c.overBoth(t, Config{Body: sizes.Body{BodyLimit: 1000}}, func(t *testing.T, s *httptest.Server) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				re := call(t, s, test.method, test.path, test.body, "Authorization", c.token)
				require.Equal(t, test.status, re.status, re.body)
				assert.Equal(t, contentType, re.header.Get("Content-Type"))
				re.body = withoutRequestID(re.body)
				require.GreaterOrEqual(t, len(re.body), len(test.want), re.body)
				assert.Equal(t, test.want, re.body[:len(test.want)])
			})
		}
		t.Run("no token", func(t *testing.T) {
			re := call(t, s, "PUT", at, `{}`)
			assert.Equal(t, 401, re.status)
			assert.Contains(t, re.body, item("4", fault.CodeUnauthenticated, ""))
			assert.NotEmpty(t, re.header.Get("WWW-Authenticate"))
		})
		t.Run("no JSON type", func(t *testing.T) {
			re := call(t, s, "PUT", at, `{}`, "Content-Type", "text/plain")
			assert.Equal(t, 415, re.status)
			assert.Contains(t, re.body, item("1", fault.CodeMediaType, ""))
		})
	})
}
