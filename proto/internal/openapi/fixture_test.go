package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1" // every description has its errors
	"github.com/rotaloom/rotaloom/proto/internal/openapi"
)

const (
	optionsFile = "rotaloom/options/v1/options.proto"
	faultFile   = "rotaloom/common/v1/fault.proto"
)

// describe returns the description of a contract in text form, with one contract case.
func describe(t *testing.T, contract, oneCase string) map[string]any {
	t.Helper()
	out, err := describeExamples(t, contract, oneCase, "")
	require.NoError(t, err)
	return out
}

// describeExamples returns the description of a contract with one contract case and a file of examples.
func describeExamples(t *testing.T, contract, oneCase, examples string) (map[string]any, error) {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{}
	require.NoError(t, prototext.Unmarshal([]byte(contract), file))
	file.Dependency = append(file.Dependency, optionsFile, faultFile, "google/api/annotations.proto")
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{file.GetName(), faultFile}}
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, withPackage(protodesc.ToFileDescriptorProto(f)))
	}
	for _, path := range file.GetDependency() {
		f, err := protoregistry.GlobalFiles.FindFileByPath(path)
		require.NoError(t, err)
		add(f)
	}
	request.ProtoFile = append(request.ProtoFile, withPackage(file))
	plugin, err := protogen.Options{}.New(request)
	require.NoError(t, err)
	document, err := openapi.Generate(plugin.Files, fstest.MapFS{"case.yaml": {Data: []byte(oneCase)}}, fstest.MapFS{"examples.yaml": {Data: []byte(examples)}})
	if err != nil {
		return nil, err
	}
	text, err := document.JSON()
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out))
	return out, nil
}

// withPackage sets the Go package that the generator of descriptions needs and does not use.
func withPackage(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	if file.Options == nil {
		file.Options = &descriptorpb.FileOptions{}
	}
	file.Options.GoPackage = proto.String("example.com/" + file.GetName())
	return file
}

// at returns the value at a path of names.
func at(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, name := range path {
		object, ok := v.(map[string]any)
		require.True(t, ok, "nothing has a member %q", name)
		v = object[name]
	}
	return v
}

const openings = `
name: "openings.proto" package: "rotaloom.openings.v1" syntax: "proto3"
message_type {
  name: "Opening"
  field { name: "title" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.openings.v1.Opening.TitleEntry" json_name: "title"
          options { [rotaloom.options.v1.field] { limit { max: 20 code: "WRL-1" } length { max: 300 code: "WRL-2" } key_format: FORMAT_LOCALE } } }
  field { name: "id" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "id" }
  nested_type { name: "TitleEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "key" }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "value" } }
}
service {
  name: "OpeningService"
  method { name: "PatchOpening" input_type: ".rotaloom.openings.v1.Opening" output_type: ".rotaloom.openings.v1.Opening"
    options { [google.api.http] { patch: "/v1/openings/{id}" body: "*" } [rotaloom.options.v1.method] { permission: "a.b.write" } } }
}`

func TestErrorItems(t *testing.T) {
	t.Parallel()
	d := describe(t, openings+` options { [rotaloom.options.v1.file] { error_items: true } }`, `
steps:
  - {it: refuses, do: PATCH /v1/openings/x, json: {id: a}, status: 404, expect: [{type: 2, message_code: WRL-9}]}`)
	responses := at(t, d, "paths", "/v1/openings/{id}", "patch", "responses")
	assert.Equal(t, "#/components/responses/UnauthorizedItems", at(t, responses, "401", "$ref"))
	missing := at(t, responses, "404")
	assert.Equal(t, []any{"WRL-9"}, at(t, missing, "x-error-codes"))
	assert.Equal(t, "#/components/schemas/common.ErrorItems", at(t, missing, "content", "application/json", "schema", "$ref"))
	assert.Equal(t, "array", at(t, d, "components", "schemas", "common.ErrorItems", "type"))
	assert.NotContains(t, at(t, describe(t, openings, ""), "components", "schemas"), "common.ErrorItems")
}

func TestMapsAndPatch(t *testing.T) {
	t.Parallel()
	d := describe(t, openings, "")
	assert.Equal(t, "rotaloom.openings.v1.OpeningService.PatchOpening", at(t, d, "paths", "/v1/openings/{id}", "patch", "x-method"))
	assert.NotContains(t, at(t, d, "components", "schemas"), "openings.Opening.TitleEntry")
	assert.Equal(t, map[string]any{
		"type": "object", "maxProperties": 20.0,
		"propertyNames":        map[string]any{"pattern": "^[a-z]{2,3}(_[a-z0-9]{2,4})?$"},
		"additionalProperties": map[string]any{"type": "string", "maxLength": 300.0},
		"x-limit":              []any{map[string]any{"maximum": 20.0, "errorCode": "WRL-1", "status": 413.0}},
	}, at(t, d, "components", "schemas", "openings.Opening", "properties", "title"))
}

func TestLinesHaveTheSchemaOfTheWhole(t *testing.T) {
	t.Parallel()
	read := func(more string) any {
		const get = `{ get: "/v1/shelves/{id}" } [rotaloom.options.v1.method] { permission: "a.b.read"`
		contract := strings.Replace(shelves, get, get+more, 1)
		return at(t, describe(t, contract, `
steps:
  - {it: reads some, do: GET /v1/shelves/7, status: 207}`), "paths", "/v1/shelves/{id}", "get")
	}
	with := read(" lines: true")
	for _, status := range []string{"200", "207"} {
		content := at(t, with, "responses", status, "content")
		assert.Equal(t, at(t, content, "application/json", "schema"), at(t, content, "application/x-ndjson", "schema"))
	}
	assert.Contains(t, at(t, with, "description"), "with one item of one of its lists")
	assert.Contains(t, at(t, with, "description"), "With status 207")
	assert.NotContains(t, at(t, read(""), "responses", "200", "content"), "application/x-ndjson")
}

func TestPagesHaveALink(t *testing.T) {
	t.Parallel()
	const plain = `{ get: "/v1/openings" } [rotaloom.options.v1.method] { permission: "a.b.read" } } }`
	read := func(more string) string {
		method := ` method { name: "ListOpenings" input_type: ".rotaloom.openings.v1.Opening" output_type: ".rotaloom.openings.v1.Opening" options { [google.api.http] `
		return strings.TrimSuffix(strings.TrimSpace(openings), "}") + method + strings.Replace(plain, `a.b.read"`, `a.b.read"`+more, 1) + "}"
	}
	headers := func(contract string) any {
		return at(t, describe(t, contract, ""), "paths", "/v1/openings", "get", "responses", "200", "headers")
	}
	assert.Contains(t, headers(read(" pages: true")), "Link")
	assert.NotContains(t, headers(read("")), "Link")
}

func TestUploadsAreForms(t *testing.T) {
	t.Parallel()
	d := describe(t, `name: "files.proto" package: "rotaloom.files.v1" syntax: "proto3"
message_type { name: "Upload"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "id" }
  field { name: "document_type" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "document_type" }
  field { name: "file_name" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "file_name" }
  field { name: "content_type" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "content_type" }
  field { name: "file" number: 5 label: LABEL_OPTIONAL type: TYPE_BYTES json_name: "file"
    options { [rotaloom.options.v1.field] { upload { max: 100 code: "WRL-2" content_types: "application/pdf" } } } } }
service { name: "FileService" method { name: "PutFile" input_type: ".rotaloom.files.v1.Upload" output_type: ".rotaloom.files.v1.Upload"
  options { [google.api.http] { post: "/v1/files/{id}" body: "*" } [rotaloom.options.v1.method] { permission: "a.b.write" success_status: 201 } } } }`, "")
	post := at(t, d, "paths", "/v1/files/{id}", "post")
	content := at(t, post, "requestBody", "content")
	assert.Equal(t, map[string]any{
		"type": "object", "required": []any{"file"}, "additionalProperties": false,
		"properties": map[string]any{
			"document_type": map[string]any{"type": "string"},
			"file":          map[string]any{"type": "string", "contentMediaType": "application/octet-stream"},
		},
	}, at(t, content, "multipart/form-data", "schema"))
	assert.Equal(t, "application/pdf", at(t, content, "application/pdf", "schema", "contentMediaType"))
	assert.NotContains(t, content, "application/json")
	assert.Equal(t, []any{"WRL-2"}, at(t, post, "responses", "413", "x-error-codes"))
	assert.Contains(t, at(t, post, "responses"), "201")
	assert.Contains(t, at(t, post, "responses"), "415")
}

func TestPropertiesSayWhatTheyHold(t *testing.T) {
	t.Parallel()
	d := describe(t, `name: "lamps.proto" package: "rotaloom.lamps.v1" syntax: "proto3"
message_type { name: "Lamp"
  field { name: "state" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "state"
    options { [rotaloom.options.v1.field] { values: "ON" values: "OFF" required: true } } }
  field { name: "colors" number: 2 label: LABEL_REPEATED type: TYPE_STRING json_name: "colors"
    options { [rotaloom.options.v1.field] { values: "RED" alias: "Colors" } } }
  field { name: "twin" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.lamps.v1.Lamp" json_name: "twin" } }
service { name: "LampService" method { name: "PutLamp" input_type: ".rotaloom.lamps.v1.Lamp" output_type: ".rotaloom.lamps.v1.Lamp"
  options { [google.api.http] { post: "/v1/lamps" body: "*" } [rotaloom.options.v1.method] { permission: "a.b.write" } } } }
source_code_info { location { path: 4 path: 0 span: 1 span: 0 span: 1 leading_comments: " A lamp with a switch." } }`, "")
	lamp := at(t, d, "components", "schemas", "lamps.Lamp")
	assert.Equal(t, []any{"state"}, at(t, lamp, "required"))
	properties := at(t, lamp, "properties")
	assert.Equal(t, []any{"ON", "OFF"}, at(t, properties, "state", "enum"))
	assert.Equal(t, []any{"RED"}, at(t, properties, "colors", "items", "enum"))
	assert.Equal(t, "Requests may also name it Colors.", at(t, properties, "colors", "description"))
	assert.NotContains(t, properties, "Colors")
	assert.Equal(t, "A lamp with a switch.", at(t, properties, "twin", "description"), "the comment of the message, since the field has none")
}

func TestHeadersAreDescribed(t *testing.T) {
	t.Parallel()
	contract := func(policy string) string {
		return strings.Replace(openings, `permission: "a.b.write"`, `permission: "a.b.write" `+policy, 1)
	}
	names := func(policy string) (parameters []string) {
		patch := at(t, describe(t, contract(policy), ""), "paths", "/v1/openings/{id}", "patch").(map[string]any)
		for _, p := range patch["parameters"].([]any) {
			if ref, ok := p.(map[string]any)["$ref"].(string); ok {
				parameters = append(parameters, strings.TrimPrefix(ref, "#/components/parameters/"))
			}
		}
		assert.Equal(t, len(parameters) > 0, at(t, patch, "responses", "200", "headers").(map[string]any)["Idempotent-Replayed"] != nil)
		return parameters
	}
	assert.Empty(t, names("throttle: THROTTLE_READ"))
	assert.Equal(t, []string{"Idempotency-Key"}, names("throttle: THROTTLE_WRITE"))
	assert.Empty(t, names("throttle: THROTTLE_WRITE confidential: true"))
	d := describe(t, openings, "")
	assert.Equal(t, "header", at(t, d, "components", "parameters", "Idempotency-Key", "in"))
	assert.Contains(t, at(t, d, "components", "headers", "RateLimit", "description"), "class of requests")
}

func TestQueriesHaveRequiredParameters(t *testing.T) {
	t.Parallel()
	d := describe(t, `name: "keys.proto" package: "rotaloom.keys.v1" syntax: "proto3"
message_type { name: "Search"
  field { name: "kind" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "kind" options { [rotaloom.options.v1.field] { required: true } } }
  field { name: "color" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "color" }
  field { name: "within" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.keys.v1.Search" json_name: "within" } }
service { name: "KeyService" method { name: "FindKeys" input_type: ".rotaloom.keys.v1.Search" output_type: ".rotaloom.keys.v1.Search"
  options { [google.api.http] { get: "/v1/keys" } [rotaloom.options.v1.method] { permission: "a.b.read" } } } }`, "")
	parameters, ok := at(t, d, "paths", "/v1/keys", "get", "parameters").([]any)
	require.True(t, ok)
	required := map[any]any{}
	for _, p := range parameters {
		required[at(t, p, "name")] = at(t, p, "required")
	}
	assert.Equal(t, true, required["kind"])
	assert.Contains(t, required, "color")
	assert.Nil(t, required["color"])
	assert.Contains(t, required, "within.kind")
	assert.Nil(t, required["within.kind"], "within itself is optional")
}
