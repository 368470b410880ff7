package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/gateway/idempotencykey"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// documents has an operation that takes a file, and one that returns it.
const documents = `
name: "documents.proto" package: "rotaloom.documents.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto" dependency: "google/api/annotations.proto"
options { [rotaloom.options.v1.file] { error_items: true } }
message_type {
  name: "Upload"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "id" }
  field { name: "document_type" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "document_type"
          options { [rotaloom.options.v1.field] { length { max: 10 code: "WRL-3" } } } }
  field { name: "year" number: 3 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "year" }
  field { name: "file_name" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "file_name" }
  field { name: "content_type" number: 5 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "content_type" }
  field { name: "file" number: 6 label: LABEL_OPTIONAL type: TYPE_BYTES json_name: "file"
          options { [rotaloom.options.v1.field] { upload { max: 6291456 code: "WRL-2" content_types: "application/pdf" } } } }
}
message_type { name: "Document"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "id" }
  field { name: "size" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "size" } }
message_type { name: "File"
  options { [rotaloom.options.v1.message] { raw_field: "pieces" content_type: "application/octet-stream" other_content_types: "application/pdf" } }
  field { name: "pieces" number: 1 label: LABEL_REPEATED type: TYPE_BYTES json_name: "pieces" }
  field { name: "content_type" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "content_type" }
  field { name: "file_name" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "file_name" } }
service {
  name: "DocumentService"
  method { name: "Put" input_type: ".rotaloom.documents.v1.Upload" output_type: ".rotaloom.documents.v1.Document"
    options { [google.api.http] { post: "/v1/documents/{id}" body: "*" }
      [rotaloom.options.v1.method] { permission: "test.thing.write" success_status: 201 throttle: THROTTLE_WRITE } } }
  method { name: "Get" input_type: ".rotaloom.documents.v1.Document" output_type: ".rotaloom.documents.v1.File"
    options { [google.api.http] { get: "/v1/documents/{id}" } [rotaloom.options.v1.method] { permission: "test.thing.write" parts: true } } }
}`

const (
	documentPath = "/v1/documents/7"
	largestFile  = 6291456
)

// form returns a form, and its content type. Each part is name, file name and content.
func form(t *testing.T, parts ...[3]string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"`, p[0])}}
		if p[1] != "" {
			header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`, p[0], p[1]))
			header.Set("Content-Type", "application/pdf")
		}
		part, err := w.CreatePart(header)
		require.NoError(t, err)
		_, err = io.WriteString(part, p[2])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String(), w.FormDataContentType()
}

// newDocuments returns the service, and the requests that it gets without their files.
func newDocuments(t *testing.T) (c *contractServer, got func() string) {
	t.Helper()
	c = newContractServer(t, documents, "rotaloom.documents.v1.DocumentService")
	var last atomic.Value
	c.methods = map[string]func(context.Context, *dynamicpb.Message) (proto.Message, error){
		"Put": func(_ context.Context, req *dynamicpb.Message) (proto.Message, error) {
			file := req.Descriptor().Fields().ByName("file")
			size := len(req.Get(file).Bytes())
			req.Clear(file)
			text, err := prototext.MarshalOptions{}.Marshal(req)
			last.Store(strings.Join(strings.Fields(string(text)), " "))
			return c.message(t, "Document", fmt.Sprintf(`id: "1" size: %d`, size)), err
		},
	}
	return c, func() string {
		text, _ := last.Swap("").(string)
		return text
	}
}

func TestUploads(t *testing.T) {
	t.Parallel()
	c, got := newDocuments(t)
	text := func(name, value string) [3]string { return [3]string{name, "", value} }
	file := [3]string{"file", `../vrn.pdf`, "%PDF"}
	large := strings.Repeat("x", largestFile)
	item := func(kind, code, members string) string {
		return `[{"type":` + kind + `,"message_code":"` + code + `","member_names":[` + members + `]`
	}
	tests := []struct {
		name   string
		parts  [][3]string
		status int
		want   string // the beginning
		asked  string
	}{
		{"a file", [][3]string{file, text("document_type", "CV"), text("year", "2026")}, 201, `{"id":"1","size":4}`, `id:"7" document_type:"CV" year:2026 file_name:"vrn.pdf" content_type:"application/pdf"`},
		{"a file without a name", [][3]string{text("file", "x")}, 201, `{"id":"1","size":1}`, `id:"7" file_name:"file" content_type:"application/octet-stream"`},
		{"the largest file", [][3]string{{"file", "a", large}}, 201, `{"id":"1","size":6291456}`, `id:"7" file_name:"a" content_type:"application/pdf"`},
		{"a larger file", [][3]string{{"file", "a", large + "x"}}, 413, item("5", "WRL-2", `"file"`), ""},
		{"a far larger file", [][3]string{{"file", "a", large + large}}, 413, item("5", "WRL-2", `"file"`), ""},
		{"no file", [][3]string{text("document_type", "CV")}, 400, item("1", fault.CodeInput, `"file"`), ""},
		{"an empty file", [][3]string{{"file", "a", ""}}, 400, item("1", fault.CodeInput, `"file"`), ""},
		{"two files", [][3]string{file, file}, 400, item("1", fault.CodeValue, `"file"`), ""},
		{"a file under another name", [][3]string{{"document", "a", "x"}}, 400, item("1", fault.CodeUnknownProperty, `"document"`), ""},
		{"a file as a text", [][3]string{file, {"document_type", "a", "x"}}, 400, item("1", fault.CodeUnknownProperty, `"document_type"`), ""},
		{"an unknown text", [][3]string{file, text("colour", "x")}, 400, item("1", fault.CodeUnknownProperty, `"colour"`), ""},
		{"a name beside the file's", [][3]string{file, text("file_name", "x")}, 400, item("1", fault.CodeUnknownProperty, `"file_name"`), ""},
		{"a text twice", [][3]string{file, text("year", "1"), text("year", "2")}, 400, item("1", fault.CodeValue, `"year"`), ""},
		{"a text of another type", [][3]string{file, text("year", "x")}, 400, item("1", fault.CodeValue, `"year"`), ""},
		{"a text that is too long", [][3]string{file, text("document_type", "12345678901")}, 400, item("1", "WRL-3", `"document_type"`), ""},
		{"a text that is not UTF-8", [][3]string{file, text("document_type", "\xff")}, 400, item("1", fault.CodeValue, `"document_type"`), ""},
		{"the id of another", [][3]string{file, text("id", "8")}, 201, `{"id":"1","size":4}`, `id:"7" file_name:"vrn.pdf" content_type:"application/pdf"`},
	}
	c.overBoth(t, Config{}, func(t *testing.T, s *httptest.Server) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				body, contentType := form(t, test.parts...)
				re := call(t, s, "POST", documentPath, body, "Authorization", c.token, "Content-Type", contentType)
				require.Equal(t, test.status, re.status, re.body)
				assert.True(t, strings.HasPrefix(re.body, test.want), re.body)
				assert.Equal(t, test.asked, got())
			})
		}
		t.Run("a chunked form that is too large", func(t *testing.T) {
			body, contentType := form(t, [3]string{"file", "a", large + large})
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+documentPath, io.MultiReader(strings.NewReader(body)))
			require.NoError(t, err)
			r.Header.Set("Authorization", c.token)
			r.Header.Set("Content-Type", contentType)
			re := send(t, s.Client(), r)
			assert.Equal(t, 413, re.status)
			assert.Contains(t, re.body, item("5", "WRL-2", `"file"`))
		})
		body, contentType := form(t, file)
		for name, test := range map[string]struct {
			body, contentType string
			status            int
			code              string
		}{
			"no content type":      {body, "", 415, fault.CodeMediaType},
			"JSON":                 {`{"file":""}`, "application/json", 415, fault.CodeMediaType},
			"no boundary":          {body, "multipart/form-data", 415, fault.CodeMediaType},
			"another boundary":     {body, "multipart/form-data; boundary=x", 400, fault.CodeValue},
			"a form that is cut":   {body[:len(body)-8], contentType, 400, fault.CodeBadRequest},
			"a type of the file":   {"%PDF", "application/pdf", 201, ""},
			"another type of file": {"<html>", "text/html", 415, fault.CodeMediaType},
			"no token":             {body, contentType, 401, fault.CodeUnauthenticated},
		} {
			t.Run(name, func(t *testing.T) {
				headers := []string{"Content-Type", test.contentType, "Content-Disposition", `attachment; filename="a/b.pdf"`}
				if name != "no token" {
					headers = append(headers, "Authorization", c.token)
				}
				re := call(t, s, "POST", documentPath, test.body, headers...)
				require.Equal(t, test.status, re.status, re.body)
				assert.Contains(t, re.body, test.code)
				if asked := got(); test.status == 201 {
					assert.Equal(t, `id:"7" file_name:"b.pdf" content_type:"application/pdf"`, asked)
				}
			})
		}
	})
}

// A client that stops sending gets 408 and holds no memory afterwards.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	c, _ := newDocuments(t)
	body, contentType := form(t, [3]string{"file", "a", strings.Repeat("x", 1<<20)})
	c.overBoth(t, Config{StallTimeout: 100 * time.Millisecond}, func(t *testing.T, s *httptest.Server) {
		from, to := io.Pipe()
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+documentPath, from)
		require.NoError(t, err)
		r.ContentLength = int64(len(body))
		r.Header.Set("Authorization", c.token)
		r.Header.Set("Content-Type", contentType)
		go func() { _, _ = io.WriteString(to, body[:1000]) }()
		t.Cleanup(func() { _ = to.Close() })
		re := send(t, s.Client(), r)
		assert.Equal(t, http.StatusRequestTimeout, re.status)
		assert.Contains(t, re.body, fault.CodeSlow)
	})
}

// Files of one user that exceed the user's share of the memory together wait for each other.
func TestUploadsWaitForMemory(t *testing.T) {
	t.Parallel()
	c, _ := newDocuments(t)
	body, contentType := form(t, [3]string{"file", "a", strings.Repeat("x", largestFile)})
	c.overBoth(t, Config{BodyMemory: 8 * int64(len(body)+bytes.MinRead), StallTimeout: time.Minute, Timeout: time.Minute}, func(t *testing.T, s *httptest.Server) {
		var group errgroup.Group
		for range 6 {
			group.Go(func() error {
				re := call(t, s, "POST", documentPath, body, "Authorization", c.token, "Content-Type", contentType)
				if re.status != http.StatusCreated {
					return fmt.Errorf("status %d: %s", re.status, re.body)
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
	})
}

// A file that gets no memory within the stall timeout is refused with 503.
func TestUploadsDoNotWaitForever(t *testing.T) {
	t.Parallel()
	c, _ := newDocuments(t)
	body, contentType := form(t, [3]string{"file", "a", "x"})
	c.overBoth(t, Config{BodyMemory: 1, StallTimeout: 50 * time.Millisecond}, func(t *testing.T, s *httptest.Server) {
		re := call(t, s, "POST", documentPath, body, "Authorization", c.token, "Content-Type", contentType)
		assert.Equal(t, http.StatusServiceUnavailable, re.status)
		assert.NotEmpty(t, re.header.Get("Retry-After"))
	})
}

// The same form has another boundary each time that it is sent, and is still the same request.
func TestUploadsWithAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	c, got := newDocuments(t)
	c.conns = connsTo(t, &fakes{keys: &memoryKeyStore{rows: map[string]*keyRow{}, settled: make(chan string, 100)}})
	c.overBoth(t, Config{}, func(t *testing.T, s *httptest.Server) {
		ask := func(content string) reply {
			body, contentType := form(t, [3]string{"file", "a", content})
			return call(t, s, "POST", documentPath, body, "Authorization", c.token, "Content-Type", contentType, idempotencykey.Header, t.Name())
		}
		first := ask("x")
		require.Equal(t, 201, first.status, first.body)
		require.NotEmpty(t, got())
		again := ask("x")
		assert.Equal(t, 201, again.status)
		assert.Equal(t, first.body, again.body)
		assert.Equal(t, "true", again.header.Get(headerReplayed))
		assert.Empty(t, got(), "it was not carried out again")
		other := ask("y")
		assert.Equal(t, 422, other.status, other.body)
		assert.Contains(t, other.body, fault.CodeKeyReused)
	})
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	c, _ := newDocuments(t)
	c.methods["Get"] = func(ctx context.Context, _ *dynamicpb.Message) (proto.Message, error) {
		first, err := proto.Marshal(c.message(t, "File", `pieces: "%PDF" content_type: "application/pdf" file_name: "Lebenslauf \303\204.pdf"`))
		if err == nil {
			_, err = parts.Send(ctx, first)
		}
		return c.message(t, "File", `pieces: "-1.7"`), err
	}
	c.overBoth(t, Config{}, func(t *testing.T, s *httptest.Server) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+documentPath, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", c.token)
		response, err := s.Client().Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		assert.Equal(t, "%PDF-1.7", string(body))
		assert.Equal(t, "application/pdf", response.Header.Get("Content-Type"))
		assert.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
		assert.Equal(t, `attachment; filename="Lebenslauf _.pdf"; filename*=UTF-8''Lebenslauf%20%C3%84.pdf`, response.Header.Get("Content-Disposition"))
	})
}
