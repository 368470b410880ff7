package boot

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const minimalMachine = "ROTALOOM_TEST_BARE_MACHINE"

// An image has no /etc/ssl. The test runs itself once more, as a process that is set
// that its authorities are nowhere.
func TestAuthoritiesWithoutFiles(t *testing.T) {
	if os.Getenv(minimalMachine) != "" {
		pool, err := x509.SystemCertPool()
		require.NoError(t, err)
		require.False(t, pool.Equal(x509.NewCertPool()), "no authorities")
		return
	}
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), minimalMachine+"=yes", "SSL_CERT_FILE=/nowhere", "SSL_CERT_DIR=/nowhere")
	out, err := again.CombinedOutput()
	assert.NoError(t, err, string(out))
}
