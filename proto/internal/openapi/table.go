package openapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

const tableHead = `# Operations

Made from the contracts by ` + "`make generate`" + `; do not edit. What each operation takes and returns stands in
` + "`proto/gen/openapi/openapi.yaml`" + `, which a running server shows at ` + "`/docs`" + `.

An operation is of the reference product unless it is marked *own*. "public" needs no token; where there is no permission, every
valid token will do. A limit is exceeded with the error that it names.
`

// Table returns a Markdown list of the operations with their policies: one section for each domain.
func (d *Document) Table() []byte {
	var out bytes.Buffer
	out.WriteString(tableHead)
	for _, group := range d.TagGroups {
		fmt.Fprintf(&out, "\n## %s\n\n| operation | permission | throttling class | limits | |\n|---|---|---|---|---|\n", group.Name)
		for _, path := range d.Paths.Keys() {
			item := d.Paths.Get(path)
			for _, at := range []struct {
				verb      string
				operation *Operation
			}{{http.MethodGet, item.Get}, {http.MethodPost, item.Post}, {http.MethodPut, item.Put}, {http.MethodPatch, item.Patch}, {http.MethodDelete, item.Delete}} {
				if at.operation != nil && strings.HasPrefix(at.operation.Tags[0], group.Name+": ") {
					writeRow(&out, at.verb, path, at.operation)
				}
			}
		}
	}
	return out.Bytes()
}

func writeRow(out *bytes.Buffer, verb, path string, o *Operation) {
	permission := o.Permission
	if o.Security != nil {
		permission = "public"
	}
	own := ""
	if o.Origin == originOwn {
		own = "own"
	}
	var limits []string
	for _, limit := range o.limits {
		text := fmt.Sprintf("%d %s (%d %s)", limit.Maximum, limit.Quantity, limit.Status, limit.ErrorCode)
		limits = append(limits, text)
	}
	fmt.Fprintf(out, "| `%s %s`: %s | %s | %s | %s | %s |\n", verb, path, strings.ToLower(o.Summary[:1])+o.Summary[1:],
		permission, strings.ReplaceAll(o.Throttle, "_", " "), strings.Join(limits, "; "), own)
}
