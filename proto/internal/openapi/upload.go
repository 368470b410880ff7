package openapi

import (
	"slices"

	"google.golang.org/protobuf/compiler/protogen"
)

const multipartType = "multipart/form-data"

// uploadField returns the field of a request that holds a file, or nil.
func uploadField(m *protogen.Message) *protogen.Field {
	i := slices.IndexFunc(m.Fields, func(f *protogen.Field) bool { return fieldOptions(f.Desc).GetUpload() != nil })
	if i < 0 {
		return nil
	}
	return m.Fields[i]
}

// uploadBody describes a form with a file, and the types of bodies that are the file itself. The edge fills in the
// name and the type of the file, and ids come from the path.
func (g *generator) uploadBody(r *route, file *protogen.Field) *RequestBody {
	form := &Schema{Type: "object", Properties: &Map[*Schema]{}, Required: []string{file.Desc.JSONName()}, AdditionalProperties: false}
	for _, field := range r.method.Input.Fields {
		name := string(field.Desc.Name())
		if _, inPath := r.params[name]; inPath || name == "file_name" || name == "content_type" {
			continue
		}
		schema := g.schemas.fieldSchema(field)
		if field == file {
			schema.ContentEncoding, schema.ContentMediaType = "", "application/octet-stream"
		}
		form.Properties.Set(field.Desc.JSONName(), schema)
	}
	body := &RequestBody{Required: true, Content: map[string]Body{multipartType: {Schema: form}}}
	for _, kind := range fieldOptions(file.Desc).GetUpload().GetContentTypes() {
		body.Content[kind] = Body{Schema: &Schema{Type: "string", ContentMediaType: kind}}
	}
	return body
}
