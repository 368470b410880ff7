// Package openapi generates the OpenAPI 3.1 description of the HTTP API from the contracts: their
// routes, messages, comments and policy. The examples and the operations' errors come from the
// contract cases.
package openapi

import "slices"

// Document is the root of a description.
// See https://spec.openapis.org/oas/v3.1.1.html, also for the types below.
type Document struct {
	OpenAPI    string          `json:"openapi"`
	Info       Info            `json:"info"`
	Servers    []Server        `json:"servers"`
	Security   []Security      `json:"security"`
	Tags       []Tag           `json:"tags"`
	TagGroups  []TagGroup      `json:"x-tagGroups"`
	Paths      *Map[*PathItem] `json:"paths"`
	Components Components      `json:"components"`
}

// Info describes the API.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Summary     string `json:"summary,omitempty"`
	Description string `json:"description,omitempty"`
}

// Server is a base of the paths.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// Security maps alternative schemes to their scopes.
type Security map[string][]string

// Tag groups operations: one tag for each service of the contracts.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// TagGroup groups tags: one group for each domain.
type TagGroup struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

// PathItem holds the operations of a path.
type PathItem struct {
	Get    *Operation `json:"get,omitempty"`
	Put    *Operation `json:"put,omitempty"`
	Post   *Operation `json:"post,omitempty"`
	Delete *Operation `json:"delete,omitempty"`
	Patch  *Operation `json:"patch,omitempty"`
}

// operations returns the operations of the path, in a fixed order.
func (p *PathItem) operations() []*Operation {
	return slices.DeleteFunc([]*Operation{p.Get, p.Put, p.Post, p.Delete, p.Patch}, func(o *Operation) bool { return o == nil })
}

// Operation is one route of an rpc.
type Operation struct {
	Tags        []string     `json:"tags"`
	Summary     string       `json:"summary"`
	Description string       `json:"description,omitempty"`
	OperationID string       `json:"operationId"`
	Deprecated  bool         `json:"deprecated,omitempty"`
	Parameters  []*Parameter `json:"parameters,omitempty"`
	RequestBody *RequestBody `json:"requestBody,omitempty"`
	// Responses are the responses by status.
	Responses *Map[*Response] `json:"responses"`
	Security  *[]Security     `json:"security,omitempty"`
	// Method is the full name of the rpc.
	Method string `json:"x-method"`
	// Permission is the permission that the caller needs.
	Permission string `json:"x-permission,omitempty"`
	// AccessPoint is the reference product's name of the permission.
	AccessPoint string `json:"x-access-point,omitempty"`
	// Throttle is the class of requests that share one rate.
	Throttle string `json:"x-throttling-class,omitempty"`
	// Origin is "reference" for an operation of the reference product, and "own" for an operation
	// that only this product has.
	Origin string `json:"x-origin"`

	limits []Limit // of the request
}

// Parameter is a parameter of the path, the query or the headers.
type Parameter struct {
	Ref         string  `json:"$ref,omitempty"`
	Name        string  `json:"name,omitempty"`
	In          string  `json:"in,omitempty"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Style       string  `json:"style,omitempty"`
	Explode     *bool   `json:"explode,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`

	Examples *Map[*Example] `json:"examples,omitempty"`
}

// RequestBody is the request body of an operation.
type RequestBody struct {
	Required bool            `json:"required,omitempty"`
	Content  map[string]Body `json:"content"`
}

// Body holds the schema and the examples of a body.
type Body struct {
	Schema   *Schema        `json:"schema"`
	Examples *Map[*Example] `json:"examples,omitempty"`
}

// Example is an example body with a summary.
type Example struct {
	Summary string `json:"summary,omitempty"`
	Value   any    `json:"value"`
}

// Response is the response of an operation with one status.
type Response struct {
	Ref         string          `json:"$ref,omitempty"`
	Description string          `json:"description,omitempty"`
	Headers     *Map[*Header]   `json:"headers,omitempty"`
	Content     map[string]Body `json:"content,omitempty"`
	// ErrorCodes are the error codes that the operation returns with this status.
	ErrorCodes []string `json:"x-error-codes,omitempty"`
}

// Header is a response header.
type Header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// Components holds the shared parts of the description.
type Components struct {
	Schemas         *Map[*Schema]              `json:"schemas"`
	Responses       *Map[*Response]            `json:"responses"`
	Parameters      *Map[*Parameter]           `json:"parameters"`
	Headers         *Map[*Header]              `json:"headers"`
	SecuritySchemes map[string]*SecurityScheme `json:"securitySchemes"`
}

// SecurityScheme is a way to authenticate.
type SecurityScheme struct {
	Type         string          `json:"type"`
	Description  string          `json:"description,omitempty"`
	Scheme       string          `json:"scheme,omitempty"`
	BearerFormat string          `json:"bearerFormat,omitempty"`
	Flows        map[string]Flow `json:"flows,omitempty"`
}

// Flow is an OAuth 2.0 flow.
type Flow struct {
	TokenURL   string            `json:"tokenUrl"`
	RefreshURL string            `json:"refreshUrl,omitempty"`
	Scopes     map[string]string `json:"scopes"`
}

// Schema holds the keywords of JSON Schema 2020-12 that the contracts need.
type Schema struct {
	Ref                  string        `json:"$ref,omitempty"`
	AnyOf                []*Schema     `json:"anyOf,omitempty"`
	Type                 any           `json:"type,omitempty"`
	Format               string        `json:"format,omitempty"`
	Description          string        `json:"description,omitempty"`
	Pattern              string        `json:"pattern,omitempty"`
	Enum                 []any         `json:"enum,omitempty"`
	ContentEncoding      string        `json:"contentEncoding,omitempty"`
	ContentMediaType     string        `json:"contentMediaType,omitempty"`
	MinLength            *uint64       `json:"minLength,omitempty"`
	MaxLength            *uint64       `json:"maxLength,omitempty"`
	Minimum              any           `json:"minimum,omitempty"`
	ExclusiveMinimum     any           `json:"exclusiveMinimum,omitempty"`
	Maximum              any           `json:"maximum,omitempty"`
	ExclusiveMaximum     any           `json:"exclusiveMaximum,omitempty"`
	Items                *Schema       `json:"items,omitempty"`
	MinItems             *uint64       `json:"minItems,omitempty"`
	MaxItems             *uint64       `json:"maxItems,omitempty"`
	Properties           *Map[*Schema] `json:"properties,omitempty"`
	Required             []string      `json:"required,omitempty"`
	PropertyNames        *Schema       `json:"propertyNames,omitempty"`
	MaxProperties        *uint64       `json:"maxProperties,omitempty"`
	AdditionalProperties any           `json:"additionalProperties,omitempty"`
	Deprecated           bool          `json:"deprecated,omitempty"`
	Limits               []Limit       `json:"x-limit,omitempty"`
}

// Limit is a limit of one request, with the error for exceeding it.
type Limit struct {
	Maximum   int64  `json:"maximum"`
	Quantity  string `json:"quantity,omitempty"`
	ErrorCode string `json:"errorCode"`
	Status    int    `json:"status"`
}
