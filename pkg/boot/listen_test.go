package boot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListen(t *testing.T) {
	t.Parallel()
	first, err := Listen("--listen", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, first.Close()) })
	_, err = Listen("--listen", first.Addr().String())
	require.ErrorContains(t, err, "another program listens on "+first.Addr().String()+": stop it, or choose another address with --listen")
	_, err = Listen("--listen", "127.0.0.1:http:s")
	require.Error(t, err)
	assert.Contains(t, err.Error(), "--listen: ")
}
