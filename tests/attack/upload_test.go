package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("uploads of documents", uploads) }

// largestFile is the largest size of a document in bytes.
const largestFile = 6 << 20

// candidateDocuments creates a candidate, and returns the path of its documents.
func (w *fixture) candidateDocuments(t *testing.T) string {
	t.Helper()
	id := w.post(t, w.admin.Token, "candidates", fmt.Sprintf(`{"name": {"first": "Ada", "last": "Upload"}, "contact_info": {"email": "%s@example.test"}}`, scenario.Unique("upload")))
	return recruiting + "candidates/" + id + "/documents"
}

// sendFile uploads a file under a name.
func (w *fixture) sendFile(t *testing.T, path, name string, file []byte) reply {
	t.Helper()
	contentType, form := contract.Form(map[string]string{"document_type": "Resume"}, name, file)
	return requireAsked(t, w.admin, http.MethodPost, path, contentType, form)
}

// makePDF returns a PDF with a number of bytes.
func makePDF(size int) []byte {
	head, tail := "%PDF-1.7\n", "\n%%EOF\n"
	return []byte(head + strings.Repeat("x", size-len(head)-len(tail)) + tail)
}

// uploads shows that only documents of the permitted types, sizes and numbers are stored, under harmless names, and that
// no browser shows them as pages.
func uploads(t *testing.T, w *fixture) {
	t.Run("types", func(t *testing.T) {
		path := w.candidateDocuments(t)
		for what, content := range map[string]string{
			"a page": "<!DOCTYPE html><script>alert(1)</script>", "a page after a mark": "\ufeff<html></html>", "an image with scripts": `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
			"XML": `<?xml version="1.0"?><x/>`, "a page that contains a PDF": "<html><!--" + contract.PDF + "--></html>", "a program": "MZ\x90\x00\x03", "an image of another kind": "GIF89a\x01\x00\x01\x00",
			"an archive": "PK\x03\x04\x14\x00\x00\x00", "half a PDF": "%PDF-1.7\n<script>alert(1)</script>", "a text": "Ada Moreno, nurse", "zeros": strings.Repeat("\x00", 100),
		} {
			for _, extension := range []string{"pdf", "png", "docx"} {
				got := w.sendFile(t, path, "cv."+extension, []byte(content))
				assert.Equal(t, http.StatusUnsupportedMediaType, got.status, "%s named %s: %s", what, extension, got.body)
			}
		}
		assert.Equal(t, http.StatusBadRequest, w.sendFile(t, path, "cv.pdf", nil).status, "an empty file")
		list := requireAsked(t, w.admin, http.MethodGet, path, "", nil)
		assert.Equal(t, "[]", strings.TrimSpace(string(list.body)))
	})
	t.Run("pages inside of permitted types", func(t *testing.T) {
		path := w.candidateDocuments(t)
		for mediaType, content := range map[string]string{
			"application/pdf": "%PDF-1.7\n<html><script>alert(1)</script></html>\n%%EOF\n",
			"image/jpeg":      "\xff\xd8\xff\xe0<html><script>alert(1)</script></html>",
			"image/png":       "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR<svg onload='alert(1)'/>",
		} {
			w.requireHarmless(t, path, w.sendFile(t, path, "cv.html", []byte(content)), mediaType, []byte(content))
		}
	})
	t.Run("sizes", func(t *testing.T) {
		path := w.candidateDocuments(t)
		got := w.sendFile(t, path, "cv.pdf", makePDF(largestFile+1))
		assert.Equal(t, http.StatusRequestEntityTooLarge, got.status, "%s", got.body)
		file := makePDF(largestFile)
		w.requireHarmless(t, path, w.sendFile(t, path, "cv.pdf", file), "application/pdf", file)
	})
	t.Run("eleven at once", func(t *testing.T) {
		path := w.candidateDocuments(t)
		statuses := make([]int, 11)
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() { statuses[i] = w.sendFile(t, path, "cv.pdf", []byte(contract.PDF)).status })
		}
		all.Wait()
		refused := 0
		for _, status := range statuses {
			if status == http.StatusConflict {
				refused++
				continue
			}
			assert.Equal(t, http.StatusCreated, status)
		}
		assert.Equal(t, 1, refused)
		var list []any
		require.NoError(t, json.Unmarshal(requireAsked(t, w.admin, http.MethodGet, path, "", nil).body, &list))
		assert.Len(t, list, 10)
	})
	t.Run("names", func(t *testing.T) {
		for _, name := range []string{
			"../../etc/passwd", `..\..\boot.ini`, "/etc/cron.d/x.pdf", "C:\\x.pdf", "..", ".", "cv\x00.pdf", "cv\x1b[2J.pdf", "cv\u202efdp.exe", "\u2066cv\u2069.pdf", "\u200fcv.pdf",
			"cv\u0085.pdf", "cv\u2028.pdf", "cv.pdf; filename=x.html", "%2e%2e%2fcv.pdf", "CON", "cv.pdf.html", strings.Repeat("n", 400) + ".pdf", "",
		} {
			path := w.candidateDocuments(t)
			got := w.sendFile(t, path, name, []byte(contract.PDF))
			if got.status == http.StatusBadRequest {
				continue // The form itself is malformed.
			}
			w.requireHarmless(t, path, got, "application/pdf", []byte(contract.PDF))
		}
	})
}

// requireHarmless requires that an upload was stored under a name that is safe in every file system and in every
// display, and that its download is the same file, which no browser shows as a page.
func (w *fixture) requireHarmless(t *testing.T, path string, uploaded reply, mediaType string, file []byte) {
	t.Helper()
	require.Equal(t, http.StatusCreated, uploaded.status, "%s", uploaded.body)
	var document struct {
		ID   string `json:"id"`
		Name string `json:"file_name"`
		Type string `json:"content_type"`
	}
	require.NoError(t, json.Unmarshal(uploaded.body, &document))
	assert.Equal(t, mediaType, document.Type)
	assert.LessOrEqual(t, len(document.Name), 255)
	assert.NotContains(t, []string{"", ".", ".."}, document.Name)
	assert.Regexp(t, `\.(pdf|jpe?g|png)$`, document.Name)
	for _, c := range document.Name {
		assert.False(t, strings.ContainsRune(`/\`, c) || unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp), "%q", document.Name)
	}
	got := requireAsked(t, w.admin, http.MethodGet, path+"/"+document.ID+"/download", "", nil)
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	assert.True(t, bytes.Equal(file, got.body), "the file is the same")
	assert.Equal(t, mediaType, got.header.Get("Content-Type"))
	assert.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	assert.Regexp(t, `^attachment; `, got.header.Get("Content-Disposition"))
}

// Many uploads of the largest file at once, of one caller, take no more memory than the caller's share: others are
// still served.
func TestManyUploads(t *testing.T) {
	w := newFixture(t, "--no-throttle", "--log-level", "warn")
	_, other := w.person(t, "Scheduler")
	paths := make([]string, senders)
	for i := range paths {
		paths[i] = w.candidateDocuments(t)
	}
	contentType, form := contract.Form(map[string]string{"document_type": "Resume"}, "cv.pdf", makePDF(largestFile))
	lasts := 5 * time.Second
	if long() {
		lasts = time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	var stored, refused atomic.Int64
	var all sync.WaitGroup
	for _, path := range paths {
		all.Go(func() {
			for ctx.Err() == nil {
				got, err := w.sendAs(ctx, w.admin.Token, http.MethodPost, path, contentType, form)
				switch {
				case err != nil:
					continue // The time is over, or the server has refused the body.
				case got.status == http.StatusCreated:
					stored.Add(1)
				default:
					refused.Add(1)
					assert.Contains(t, []int{http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestTimeout}, got.status, "%s", got.body)
				}
			}
		})
	}
	most, served, slowest := w.watch(t, ctx, other.Token)
	all.Wait()
	t.Logf("%d files were stored and %d refused: at most %d MiB; %d requests of others were served, the slowest in %s",
		stored.Load(), refused.Load(), most>>20, served, slowest.Round(time.Millisecond))
	assert.Positive(t, stored.Load()+refused.Load())
	assert.Less(t, most, int64(maxMemory))
	assert.Positive(t, served)
	assert.Less(t, slowest, soon)
	path := w.candidateDocuments(t)
	w.requireHarmless(t, path, w.sendFile(t, path, "cv.pdf", makePDF(largestFile)), "application/pdf", makePDF(largestFile))
	w.requireUnharmed(t)
}
