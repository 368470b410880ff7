package headers_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/gateway/headers"
)

func TestPassed(t *testing.T) {
	t.Parallel()
	long := make([]byte, 257)
	for i := range long {
		long[i] = 'x'
	}
	for name, c := range map[string]struct {
		sent    map[string]string
		trusted bool
		want    metadata.MD
	}{
		"nothing": {nil, false, metadata.MD{"x-forwarded-host": {"example.com"}, "x-forwarded-for": {"192.0.2.1"}}},
		"all, from a stranger": {
			map[string]string{
				"Authorization": "bearer abc", "Accept-Language": "de", "Cookie": "a=b", "Grpc-Timeout": "1n",
				"X-Forwarded-Host": "evil.example", "X-Forwarded-For": "6.6.6.6",
			},
			false,
			metadata.MD{
				"authorization": {"Bearer abc"}, "accept-language": {"de"}, "x-forwarded-host": {"example.com"}, "x-forwarded-for": {"192.0.2.1"},
			},
		},
		"from a proxy": {
			map[string]string{"X-Forwarded-Host": "two.example:8443", "X-Forwarded-For": "10.0.0.1, 10.0.0.2"},
			true,
			metadata.MD{"x-forwarded-host": {"two.example:8443"}, "x-forwarded-for": {"10.0.0.1, 10.0.0.2, 192.0.2.1"}},
		},
		"what metadata cannot hold": {
			map[string]string{"X-Forwarded-Host": "zwölf.example", "X-Forwarded-For": "ö", "Authorization": "ä", "Accept-Language": "d\xe9"},
			true,
			metadata.MD{"x-forwarded-host": {"example.com"}},
		},
		"too long a language": {
			map[string]string{"Accept-Language": string(long)},
			false,
			metadata.MD{"x-forwarded-host": {"example.com"}, "x-forwarded-for": {"192.0.2.1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			for name, value := range c.sent {
				r.Header.Set(name, value)
			}
			assert.Equal(t, c.want, headers.Metadata(r, c.trusted))
			assert.Len(t, c.sent, len(r.Header), "the request stays as it is")
		})
	}
}
