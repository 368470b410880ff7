package openapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
)

// meanings holds the descriptions of the statuses, in the order of the statuses.
var meanings = map[int]string{
	http.StatusOK:                    "Done.",
	http.StatusCreated:               "Created.",
	http.StatusNoContent:             "Done; there is nothing to return.",
	http.StatusMultiStatus:           "Some items failed: details.results has one entry for each item, in the order of the request. requestId and help are those of the whole response.",
	http.StatusBadRequest:            "The request is wrong; the message says what to change.",
	http.StatusUnauthorized:          "The access token is missing, expired or revoked.",
	http.StatusForbidden:             "The caller may not do this.",
	http.StatusNotFound:              "There is no such object, or the caller may not see it.",
	http.StatusMethodNotAllowed:      "The path does not take this method.",
	http.StatusNotAcceptable:         "The client accepts no form that the server can write.",
	http.StatusConflict:              "The request does not fit the state that the object is in.",
	http.StatusGone:                  "The object was there, and is no more.",
	http.StatusPreconditionFailed:    "The object has another version than the request names.",
	http.StatusRequestEntityTooLarge: "A service limit is exceeded; details.limits says by how much.",
	http.StatusUnsupportedMediaType:  "The body is of a form that is not read here.",
	http.StatusUnprocessableEntity:   "The idempotency key was used for another request.",
	http.StatusTooManyRequests:       "The caller has used up its rate; Retry-After says when to try again.",
	http.StatusServiceUnavailable:    "A part of the server is not available; Retry-After says when to try again.",
}

// responses describes the responses of a route: its success, the errors of every route of its kind,
// and the outcomes in the contract cases.
func (g *generator) responses(r *route, limits []Limit) *Map[*Response] {
	success := int(r.policy.GetSuccessStatus())
	if success == 0 {
		success = http.StatusOK
	}
	found := map[int]*Response{success: {}}
	if messageOptions(r.method.Output.Desc).GetFailure() != "" && has(r.method.Input.Desc, "partial_success") {
		found[http.StatusMultiStatus] = &Response{}
	}
	for _, status := range general(r) {
		found[status] = &Response{}
	}
	for _, limit := range limits {
		g.add(found, limit.Status, limit.ErrorCode)
	}
	g.addRanges(found, r.method.Input, map[*protogen.Message]bool{})
	for _, seen := range g.cases.outcomes(r) {
		g.add(found, seen.status, seen.errorCode)
	}
	statuses := make([]int, 0, len(found))
	for status := range found {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	out := &Map[*Response]{}
	for _, status := range statuses {
		out.Set(strconv.Itoa(status), g.shareResponse(status, g.fill(r, status, success, found[status])))
	}
	return out
}

// shareResponse replaces an error response that many routes have by a reference to one description.
func (g *generator) shareResponse(status int, response *Response) *Response {
	body, ok := response.Content[jsonType]
	if !ok {
		return response
	}
	suffix, shared := map[string]string{errorBodyRef: "", errorItemsRef: "Items"}[body.Schema.Ref]
	if len(response.ErrorCodes) > 0 || len(response.Content) > 1 || body.Examples != nil || !shared {
		return response
	}
	name := strings.ReplaceAll(http.StatusText(status), " ", "") + suffix
	g.sharedErrors.Set(name, response)
	return &Response{Ref: "#/components/responses/" + name}
}

// general returns the error statuses that every route of this kind may return.
func general(r *route) []int {
	statuses := []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable}
	if !r.policy.GetPublic() {
		statuses = append(statuses, http.StatusUnauthorized)
	}
	if r.policy.GetPermission() != "" {
		statuses = append(statuses, http.StatusForbidden)
	}
	if len(r.params) > 0 {
		statuses = append(statuses, http.StatusNotFound)
	}
	if r.takesIfMatch() {
		statuses = append(statuses, http.StatusConflict, http.StatusPreconditionFailed)
	}
	if r.body != "" {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	if uploadField(r.method.Input) != nil {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	return statuses
}

func (g *generator) add(found map[int]*Response, status int, code string) {
	response := found[status]
	if response == nil {
		response = &Response{}
		found[status] = response
	}
	if code != "" && !slices.Contains(response.ErrorCodes, code) {
		response.ErrorCodes = append(response.ErrorCodes, code)
		slices.Sort(response.ErrorCodes)
	}
}

// fill completes the description of a response with this status.
func (g *generator) fill(r *route, status, success int, response *Response) *Response {
	response.Description = meanings[status]
	if response.Description == "" {
		response.Description = fmt.Sprintf("%s.", http.StatusText(status))
	}
	response.Headers = g.headers(r, status)
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return response
	}
	schema := g.errorSchema(r)
	if slices.Contains(r.policy.GetOutcomeStatuses(), int32(status)) {
		schema = g.schemas.message(r.method.Output)
		if status >= http.StatusBadRequest {
			schema = &Schema{AnyOf: []*Schema{schema, g.errorSchema(r)}}
		}
		response.Content = map[string]Body{jsonType: {Schema: schema, Examples: g.examples.responses(r, status)}}
		return response
	}
	if status == success || status < http.StatusMultipleChoices && status != http.StatusMultiStatus {
		schema = g.schemas.message(r.method.Output)
	}
	if raw := messageOptions(r.method.Output.Desc); raw.GetContentType() != "" && status == success {
		response.Content = map[string]Body{}
		if has(r.method.Output.Desc, "file_name") {
			response.Headers.Set("Content-Disposition", &Header{Description: "attachment, with the name of the file.", Schema: &Schema{Type: "string"}})
		}
		for _, kind := range append([]string{raw.GetContentType()}, raw.GetOtherContentTypes()...) {
			kind, _, _ = strings.Cut(kind, ";")
			body := Body{Schema: &Schema{Type: "string"}}
			if kind == jsonType {
				body.Schema = &Schema{Type: "array", Items: &Schema{Type: "object"}}
			}
			response.Content[kind] = body
		}
		return response
	}
	response.Content = map[string]Body{jsonType: {Schema: schema, Examples: g.examples.responses(r, status)}}
	if r.policy.GetLines() && status < http.StatusMultipleChoices {
		// The schema of the lines that are put together, so that generated clients get the same type for both.
		response.Content[linesType] = Body{Schema: schema}
	}
	return response
}

func (g *generator) errorSchema(r *route) *Schema {
	if r.errorItems() {
		return &Schema{Ref: errorItemsRef}
	}
	if r.policy.GetOauthErrors() {
		return &Schema{Ref: "#/components/schemas/" + oauthError}
	}
	return g.schemas.message(g.errorBody)
}

// addRanges adds the errors for values outside the ranges of a request, including its nested
// messages.
func (g *generator) addRanges(found map[int]*Response, m *protogen.Message, seen map[*protogen.Message]bool) {
	if seen[m] || !isOurs(m) {
		return
	}
	seen[m] = true
	for _, field := range m.Fields {
		policy := fieldOptions(field.Desc)
		for _, r := range policy.GetRanges() {
			g.add(found, cmp.Or(int(r.GetStatus()), http.StatusBadRequest), r.GetCode())
		}
		if upload := policy.GetUpload(); upload != nil {
			g.add(found, http.StatusRequestEntityTooLarge, upload.GetCode())
		}
		if length := policy.GetLength(); length != nil {
			g.add(found, cmp.Or(int(length.GetStatus()), http.StatusBadRequest), length.GetCode())
		}
		if field.Message != nil {
			g.addRanges(found, field.Message, seen)
		}
	}
}

// requestLimits collects the limits of a request, including its nested messages.
func requestLimits(m *protogen.Message, seen map[*protogen.Message]bool) []Limit {
	if seen[m] || !isOurs(m) {
		return nil
	}
	seen[m] = true
	out := limits(messageOptions(m.Desc).GetLimits()...)
	for _, field := range m.Fields {
		if limit := fieldOptions(field.Desc).GetLimit(); limit != nil {
			out = append(out, limits(limit)...)
		}
		if field.Message != nil {
			out = append(out, requestLimits(field.Message, seen)...)
		}
	}
	return out
}
