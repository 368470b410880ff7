package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The program accepts the settings in the Debian package.
func TestTheProgramAcceptsThePackagedSettings(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs("../debian/rotaloom.yaml")
	require.NoError(t, err)
	out := goRun(t, "./services/standalone/cmd/rotaloom", "config", "serve", "--config", path)
	assert.Contains(t, out, "state-dir: /var/lib/rotaloom # file")
	assert.Contains(t, out, "admin-address: 127.0.0.1:9090 # file")
}

// The package contains only files that exist. tools/dist.sh puts some of them into a folder first.
func TestThePackageHasItsFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../debian/nfpm.yaml")
	require.NoError(t, err)
	var config struct {
		Scripts  map[string]string
		Contents []struct{ Src, Dst string }
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	require.Len(t, config.Scripts, 3)
	for _, script := range config.Scripts {
		info, err := os.Stat(filepath.Join("../..", script))
		require.NoError(t, err)
		assert.NotZero(t, info.Mode()&0o100, "%s is executable", script)
	}
	staged, err := os.ReadFile("../../tools/dist.sh")
	require.NoError(t, err)
	for _, content := range config.Contents {
		name := strings.TrimPrefix(content.Src, "${STAGE}/")
		assert.Contains(t, string(staged), name, content.Dst)
	}
}

// The unit gives the program no more than it needs. Where systemd is installed, it checks the unit itself.
func TestTheUnitIsHardened(t *testing.T) {
	t.Parallel()
	const unit = "../systemd/rotaloom.service"
	text, err := os.ReadFile(unit)
	require.NoError(t, err)
	for _, line := range []string{
		"User=rotaloom", "StateDirectory=rotaloom", "ExecStart=/usr/bin/rotaloom serve --config /etc/rotaloom/rotaloom.yaml", "KillMode=mixed",
		"NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes", "PrivateDevices=yes", "SystemCallFilter=@system-service",
	} {
		assert.Regexp(t, "(?m)^"+regexp.QuoteMeta(line)+"$", string(text))
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return // tests/package/run.sh runs it in a bare Debian.
	}
	// The largest exposure, in tenths, that systemd may find.
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", unit).CombinedOutput()
	assert.NoError(t, err, "%s", out)
}
