package window

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestPutID(t *testing.T) {
	t.Parallel()
	const first, last = 1 << 52, 1<<53 - 1
	ids := []int64{first, first + 1, last, last - 1}
	for bit := range 52 {
		ids = append(ids, first|1<<bit)
	}
	for range 1000 {
		ids = append(ids, first|rand.Int64N(first))
	}
	for _, id := range ids {
		var wire [idLen]byte
		putID(wire[:], id)
		assert.Equal(t, protowire.AppendVarint(nil, uint64(id)), wire[:], id)
	}
}
