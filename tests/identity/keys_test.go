package identity

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// An auth process without the setting for the encryption of keys refuses to start, instead of
// storing signing keys in the clear.
func TestAuthRefusesToStartWithoutAKeyThatEncryptsSigningKeys(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(open, []byte("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"), 0o600))
	require.NoError(t, os.Chmod(open, 0o644))
	dir := t.TempDir()
	_, errs, code := launch.Run(t, launch.Build(t, "services/standalone/cmd/rotaloom"), nil, "certs", dir)
	require.Zero(t, code, errs)
	certificate := []string{
		"--tls-cert", filepath.Join(dir, "auth.pem"), "--tls-key", filepath.Join(dir, "auth-key.pem"), "--tls-ca", filepath.Join(dir, "ca.pem"),
	}
	for name, c := range map[string]struct {
		env  []string
		says string
	}{
		"no key":                       {nil, "--key-encryption-file"},
		"a file that is not there":     {[]string{"ROTALOOM_KEY_ENCRYPTION_FILE=" + filepath.Join(dir, "none")}, "no such file"},
		"a file that others may read":  {[]string{"ROTALOOM_KEY_ENCRYPTION_FILE=" + open}, "chmod 600"},
		"a key that is not a good one": {[]string{"ROTALOOM_KEY_ENCRYPTION_KEY=correct horse"}, "openssl rand -base64 32"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs, code := launch.Run(t, launch.Build(t, "services/auth/cmd/auth"), append(c.env, "ROTALOOM_ADMIN_ADDRESS="),
				append([]string{"--listen", "127.0.0.1:0", "--database-url", "postgres://127.0.0.1:1/none"}, certificate...)...)
			assert.Equal(t, 1, code)
			assert.Contains(t, errs, c.says)
			assert.NotContains(t, errs, "correct horse")
		})
	}
}
