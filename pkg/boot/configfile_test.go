package boot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
)

// fileProgram has settings of all kinds that a program has.
type fileProgram struct {
	Common
	Commands

	Serve struct {
		Listen   string        `default:":1" help:"An address."`
		Networks []string      `help:"Networks."`
		Wait     time.Duration `default:"1s" help:"A time."`
		Count    *int          `help:"A number."`
		Docs     bool          `default:"true" negatable:"" help:"Whether."`
		Password obs.Secret    `help:"A secret."`
	} `cmd:"" help:"Serve."`
	Other struct {
		Depth int `help:"A depth."`
	} `cmd:"" help:"Another command."`
}

// runWithFile runs a program with a file of settings and variables of its own.
func runWithFile(t *testing.T, text string, variables map[string]string, args ...string) (*testProgram, *fileProgram, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	p, settings := newProgram(append(args, "--config="+path)...), &fileProgram{}
	p.lookup = func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
	return p, settings, p.run(settings, func(context.Context, *App) error { return errors.New("enough") })
}

func TestSettingsFromAConfigFile(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("of its own file"), 0o600))
	_, settings, _ := runWithFile(t, "listen: ':2'\nnetworks: [10.0.0.0/8, 'a,b']\nwait: 3s\ncount: 7\ndocs: false\npassword: of the file\ndepth: 4\nlog-level: debug\n",
		map[string]string{"ROTALOOM_PASSWORD_FILE": secret}, "serve", "--wait=5s")
	assert.Equal(t, ":2", settings.Serve.Listen)
	assert.Equal(t, []string{"10.0.0.0/8", "a,b"}, settings.Serve.Networks)
	assert.Equal(t, 5*time.Second, settings.Serve.Wait, "the flag wins")
	assert.Equal(t, 7, *settings.Serve.Count)
	assert.False(t, settings.Serve.Docs)
	assert.Equal(t, "of its own file", settings.Serve.Password.Reveal(), "a variable's file wins")
	assert.Equal(t, "debug", settings.LogConfig.Level)
}

func TestConfigFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"an unknown name":     {"listen: a\nlisten-on: b\n", `line 2: there is no setting "listen-on"`},
		"a name twice":        {"listen: a\nlisten: b\n", "line 2: listen is set twice"},
		"a mapping":           {"listen: {port: 1}\n", "line 1: listen: it takes one value"},
		"nothing":             {"listen:\n", "line 1: listen: it takes one value"},
		"a list of lists":     {"networks: [[a]]\n", "an item of a list"},
		"a list for one":      {"listen: [a, b]\n", "it takes one value"},
		"no mapping":          {"- listen\n", "write settings as name: value"},
		"two documents":       {"listen: a\n---\nlisten: b\n", "more than one document"},
		"no YAML":             {"listen: 'a\n", "yaml:"},
		"a wrong value":       {"wait: soon\n", "--wait"},
		"another file":        {"config: other.yaml\n", `there is no setting "config"`},
		"an unknown setting":  {"help: true\n", `there is no setting "help"`},
		"more than is a file": {"# " + strings.Repeat("x", maxConfigFile), "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, code := runWithFile(t, c.text, nil, "serve")
			assert.Equal(t, exitUsage, code)
			assert.Contains(t, p.errs.String(), c.says)
		})
	}
}

func TestEmptyConfigFileSetsNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "a comment": "# nothing yet\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, settings, _ := runWithFile(t, text, nil, "serve")
			assert.Equal(t, ":1", settings.Serve.Listen, p.errs.String())
		})
	}
}

func TestConfigPrintsWhatCounts(t *testing.T) {
	t.Parallel()
	p, _, code := runWithFile(t, "listen: ':2'\nnetworks: [10.0.0.0/8, 10.1.0.0/16]\npassword: hunter2\n", nil, "config", "--wait=5s")
	require.Equal(t, exitOK, code, p.errs.String())
	printed := p.out.String()
	for _, line := range []string{
		"log-level: info # default\n", "listen: :2 # file\n", "networks: [10.0.0.0/8, 10.1.0.0/16] # file\n",
		"wait: 5s # flag\n", "docs: true # default\n", "password: '[redacted]' # file\n",
	} {
		t.Run(line, func(t *testing.T) {
			assert.Contains(t, printed, line)
		})
	}
	assert.NotContains(t, printed, "hunter2")
	assert.NotContains(t, printed, "count", "it has no value")
	assert.NotContains(t, printed, "depth", "another command's")
	assert.NotContains(t, printed, "config:")

	again, _, code := runWithFile(t, printed, nil, "config", "serve")
	require.Equal(t, exitOK, code, again.errs.String())
	assert.Contains(t, again.out.String(), "wait: 5s # file\n", "its output can be used as a file")
}

func TestConfigChecksWhatItPrints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a wrong value":    {[]string{"config", "--wait=soon"}, "--wait"},
		"an unknown flag":  {[]string{"config", "serve", "--nothing"}, "unknown flag --nothing"},
		"no such command":  {[]string{"config", "elsewhere"}, "elsewhere"},
		"a wrong log form": {[]string{"--log-format=xml", "config"}, "--log-format"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, code := runWithFile(t, "", nil, c.args...)
			assert.Equal(t, exitUsage, code)
			assert.Contains(t, p.errs.String(), c.says)
		})
	}
}

func TestConfigOfAnotherCommand(t *testing.T) {
	t.Parallel()
	p, _, code := runWithFile(t, "depth: 3\n", nil, "--log-level=warn", "config", "other")
	require.Equal(t, exitOK, code, p.errs.String())
	assert.Contains(t, p.out.String(), "depth: 3 # file\n")
	assert.Contains(t, p.out.String(), "log-level: warn # flag\n")
	assert.NotContains(t, p.out.String(), "listen")
}
