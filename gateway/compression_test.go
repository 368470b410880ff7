package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/sizes"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// wordy is a text that is compressed well.
var wordy = strings.Repeat("day night ", 500)

// newWordy serves shifts: the shift 1 has a short label, and the others have a long one.
func newWordy(t *testing.T) *httptest.Server {
	t.Helper()
	return serve(t, Config{Body: sizes.Body{BodyLimit: 10_000}}, &fakes{
		getShift: func(_ context.Context, r *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
			if r.GetId() == 1 {
				return &schedulingv1.Shift{Label: "day"}, nil
			}
			return &schedulingv1.Shift{Label: wordy}, nil
		},
		createShifts: func(_ context.Context, s *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
			return &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{s}}, nil
		},
		tokens: tokens{issue: func(context.Context, *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
			return &authv1.IssueTokenResponse{AccessToken: wordy}, nil
		}},
	})
}

// decoded returns the content of a body with a Content-Encoding.
func decoded(t *testing.T, encoding string, body io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(decoder(t, encoding, body))
	require.NoError(t, err)
	return string(b)
}

// decoder reads the content of a body with a Content-Encoding.
func decoder(t *testing.T, encoding string, body io.Reader) io.Reader {
	t.Helper()
	switch encoding {
	case "gzip":
		from, err := gzip.NewReader(body)
		require.NoError(t, err)
		return from
	case "zstd":
		from, err := zstd.NewReader(body)
		require.NoError(t, err)
		t.Cleanup(from.Close)
		return from
	}
	require.Empty(t, encoding)
	return body
}

func TestResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	s := newWordy(t)
	plain := call(t, s, "GET", shiftsPath+"/2", "", "Accept-Encoding", "identity").body
	for name, c := range map[string]struct{ path, accept, want string }{
		"with zstd, if both have the same weight": {shiftsPath + "/2", "gzip, deflate, br, zstd", "zstd"},
		"with gzip":                        {shiftsPath + "/2", "gzip", "gzip"},
		"with the higher weight":           {shiftsPath + "/2", "zstd;q=0.5, gzip;q=0.8", "gzip"},
		"not with a weight of 0":           {shiftsPath + "/2", "zstd;q=0, gzip;q=0", ""},
		"not with another coding":          {shiftsPath + "/2", "br", ""},
		"not unless the client accepts it": {shiftsPath + "/2", "", ""},
		"not if it is short":               {shiftsPath + "/1", "gzip, zstd", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+c.path, nil)
			require.NoError(t, err)
			r.Header["Accept-Encoding"] = []string{c.accept}
			response, err := s.Client().Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			assert.Equal(t, c.want, response.Header.Get("Content-Encoding"))
			assert.Contains(t, response.Header.Values("Vary"), "Accept-Encoding")
			content := decoded(t, response.Header.Get("Content-Encoding"), response.Body)
			if c.path == shiftsPath+"/2" {
				assert.Equal(t, plain, content)
			}
			if c.want != "" {
				assert.Less(t, response.ContentLength, int64(len(plain)/10))
			}
		})
	}
}

// A token is a secret, and the client chose other text of the response.
func TestTokensAreNotCompressed(t *testing.T) {
	t.Parallel()
	s := newWordy(t)
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/authentication/access_token",
		strings.NewReader("grant_type=client_credentials&client_id=c&client_secret=s&auth_chain=OAuthLdapService"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept-Encoding", "gzip, zstd")
	response, err := s.Client().Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	assert.Empty(t, response.Header.Get("Content-Encoding"))
	assert.Empty(t, response.Header.Values("No-Gzip-Compression"), "the mark is internal")
	assert.Contains(t, decoded(t, "", response.Body), wordy)
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	s := newWordy(t)
	whole := zipped(t, `{"label":"day"}`)
	for name, c := range map[string]struct {
		body, encoding string
		status         int
		message        string
	}{
		"gzip":                                {whole, "gzip", 200, ""},
		"its other name":                      {whole, "X-GZIP", 200, ""},
		"none":                                {`{"label":"day"}`, "identity", 200, ""},
		"another coding":                      {whole, "br", 415, "must be gzip, or absent"},
		"two codings":                         {whole, "gzip, gzip", 415, "must be gzip, or absent"},
		"no gzip":                             {`{"label":"day"}`, "gzip", 400, "not valid gzip"},
		"a wrong checksum":                    {whole[:len(whole)-5] + "xxxxx", "gzip", 400, "not valid gzip"},
		"nothing":                             {"", "gzip", 400, "incomplete or malformed"},
		"half of a gzip":                      {whole[:len(whole)/2], "gzip", 400, "incomplete or malformed"},
		"a content above the limit of bodies": {zipped(t, `{"label":"`+strings.Repeat("x", 1<<20)+`"}`), "gzip", 413, "larger than 10000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			re := call(t, s, "POST", shiftsPath, c.body, "Content-Encoding", c.encoding)
			assert.Equal(t, c.status, re.status, re.body)
			assert.Contains(t, re.body, c.message)
			if c.status == http.StatusUnsupportedMediaType {
				assert.Equal(t, "gzip", re.header.Get("Accept-Encoding"))
			}
		})
	}
	t.Run("not of a log-in", func(t *testing.T) {
		t.Parallel()
		re := call(t, s, "POST", "/api/authentication/access_token", zipped(t, "grant_type=password"), "Content-Encoding", "gzip")
		assert.Equal(t, 415, re.status, re.body)
		assert.Equal(t, "identity", re.header.Get("Accept-Encoding"))
	})
}
