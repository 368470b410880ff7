package apidocs

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAcceptsGzip(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"":                           false,
		"gzip":                       true,
		"GZIP":                       true,
		"x-gzip":                     true,
		"br, gzip":                   true,
		"br;q=1.0, gzip;q=0.5":       true,
		"gzip;q=0":                   false,
		"gzip; Q=0.000":              false,
		"gzip ; q = 0, br":           false,
		"*":                          true,
		"*;q=0":                      false,
		"*;q=0, gzip":                true,
		"gzip;q=0, *":                false,
		"identity":                   false,
		"identity;q=0, gzip;q=0.1":   true,
		"identity;q=1, gzip;q=0.5":   false,
		"identity;q=0.5, gzip;q=0.5": true,
		"br":                         false,
		"gzipped":                    false,
		"gzip;q=nan":                 false,
		"gzip;q=2":                   false,
		"gzip;q=":                    false,
		",,;q=1,gzip":                true,
	} {
		assert.Equal(t, want, acceptsGzip([]string{accept}), "%q", accept)
	}
	assert.False(t, acceptsGzip([]string{"br", "gzip;q=0"}), "two headers are one list")
}
