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
	corev1 "k8s.io/api/core/v1"
)

// certificates matches the lines that name files which exist only in a cluster.
var certificates = regexp.MustCompile(`(?m)^\s*tls \{.*\}$`)

// A NATS server that refuses a value does not start.
func TestTheBrokerTakesItsConfiguration(t *testing.T) {
	t.Parallel()
	maps := selectKind[corev1.ConfigMap](decode(t, render(t, variants["as it is"])))
	dir := t.TempDir()
	require.Contains(t, maps, release+"-nats")
	for name, text := range maps[release+"-nats"].Data {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(certificates.ReplaceAllString(text, "")), 0o600))
	}
	check := exec.CommandContext(t.Context(), "go", "-C", "../../tools/nats", "tool", "nats-server", "-t", "--config", filepath.Join(dir, "nats.conf"))
	check.Env = append(os.Environ(), "GOWORK=off", "POD_NAME=nats-0")
	for _, user := range []string{"auth", "commons", "timekeeping", "scheduling", "propagator", "recruiting", "platform"} {
		check.Env = append(check.Env, "NATS_PASSWORD_"+strings.ToUpper(user)+"=password")
	}
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "is valid")
}

// auth refuses a key that users outside its group may read. Orchestrators mount files readable by
// all users unless a mode is set.
func TestOnlyTheGroupReadsKeys(t *testing.T) {
	t.Parallel()
	volumes := 0
	for name, pod := range pods(decode(t, render(t, variants["as it is"]))) {
		for _, volume := range pod.Spec.Volumes {
			if volume.Name == "key-encryption" || volume.Name == "administrator" {
				require.NotNil(t, volume.Secret.DefaultMode, "%s of %s", volume.Name, name)
				assert.EqualValues(t, 0o440, *volume.Secret.DefaultMode, "%s of %s", volume.Name, name)
				volumes++
			}
		}
	}
	assert.Equal(t, 2, volumes)
}
