// Package apidocs serves the description of the HTTP API as /openapi.json and /openapi.yaml, a page at /docs
// that shows the description and calls the API, and a page at /docs/errors that explains the error codes. The pages contain all that they need,
// and their content security policy forbids loading anything from other servers.
package apidocs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/rotaloom/rotaloom/proto/gen/openapi"
)

// policy allows the page to load from and call this server only, and forbids framing it. Images include the
// icons that the style sheet contains.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ErrorsPath is the path of the page that explains the error codes. Each code is the id of an element of the page.
const ErrorsPath = "/docs/errors"

//go:embed page swagger-ui
var files embed.FS

// Page is one document, in memory.
type Page struct {
	contentType string
	body        []byte
	etag        string
	compressed  func() []byte
	// location is the path of the page that a redirection leads to; other pages have none.
	location string
}

// pages maps paths to pages.
var pages = sync.OnceValue(func() map[string]*Page {
	return map[string]*Page{
		"/":                          {location: "/docs"},
		"/openapi.json":              newPage("application/json", openapi.JSON),
		"/openapi.yaml":              newPage("application/yaml", openapi.YAML),
		"/docs":                      newPage("text/html; charset=utf-8", file("page/index.html")),
		"/docs/":                     newPage("text/html; charset=utf-8", file("page/index.html")),
		ErrorsPath:                   newPage("text/html; charset=utf-8", file("page/errors.html")),
		"/docs/errors.css":           newPage("text/css; charset=utf-8", file("page/errors.css")),
		"/docs/start.js":             newPage("text/javascript; charset=utf-8", file("page/start.js")),
		"/docs/search.js":            newPage("text/javascript; charset=utf-8", file("page/search.js")),
		"/docs/page.css":             newPage("text/css; charset=utf-8", file("page/page.css")),
		"/docs/swagger-ui-bundle.js": newPage("text/javascript; charset=utf-8", file("swagger-ui/swagger-ui-bundle.js")),
		"/docs/swagger-ui.css":       newPage("text/css; charset=utf-8", file("swagger-ui/swagger-ui.css")),
		"/docs/favicon-32x32.png":    newPage("image/png", file("swagger-ui/favicon-32x32.png")),
	}
})

// Find returns the page at a path, or nil.
func Find(path string) *Page {
	if strings.HasPrefix(path, partsPath) {
		return findPart(path)
	}
	return pages()[path]
}

func file(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		// The files are embedded in the program.
		panic(err)
	}
	return data
}

func newPage(contentType string, body []byte) *Page {
	sum := sha256.Sum256(body)
	return &Page{
		contentType: contentType,
		body:        body,
		etag:        `"` + hex.EncodeToString(sum[:16]) + `"`,
		compressed:  sync.OnceValue(func() []byte { return compress(body) }),
	}
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	// Writing to memory does not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

// ServeHTTP writes the page, compressed if the client accepts gzip. It serves GET and HEAD.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.location != "" {
		http.Redirect(w, r, p.location, http.StatusSeeOther)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", p.etag)
	if r.Header.Get("If-None-Match") == p.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := p.body
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = p.compressed()
	}
	h.Set("Content-Type", p.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// A write error means that the client has disconnected.
		_, _ = w.Write(body)
	}
}
