package compression

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/encoding"
)

// A later registration races with the connections that exist.
func TestTheCompressorIsRegisteredBeforeMainStarts(t *testing.T) {
	t.Parallel()
	assert.NotNil(t, encoding.GetCompressor(name))
}
