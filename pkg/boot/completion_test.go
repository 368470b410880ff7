package boot

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A real bash completes the lines.
func TestBashCompletesCommandsAndFlags(t *testing.T) {
	t.Parallel()
	p := newProgram("completion", "bash")
	require.Equal(t, exitOK, p.run(&commandSettings{}, func(context.Context, *App) error { return errors.New("started") }), p.errs.String())
	script := filepath.Join(t.TempDir(), "completion")
	require.NoError(t, os.WriteFile(script, []byte(p.out.String()), 0o600))
	complete := func(t *testing.T, line ...string) []string {
		t.Helper()
		words := append([]string{"rotaloom-test"}, line...)
		bash := exec.Command("bash", "-c", `source "$0" && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && _rotaloom_test && echo "${COMPREPLY[@]}"`)
		bash.Args = append(append(bash.Args, script), words...)
		out, err := bash.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.Fields(string(out))
	}
	for name, c := range map[string]struct {
		line, want []string
	}{
		"a command":                        {[]string{"comp"}, []string{"completion"}},
		"commands that begin alike":        {[]string{"se"}, []string{"settings", "serve"}},
		"a flag of the command":            {[]string{"serve", "--lamp"}, []string{"--lamp-hue", "--lamp-size"}},
		"a flag of all commands":           {[]string{"serve", "--log-l"}, []string{"--log-level"}},
		"no flag of another command":       {[]string{"version", "--lamp"}, []string{}},
		"the value of a flag":              {[]string{"serve", "--log-level", "w"}, []string{"warn"}},
		"the value of a flag, further":     {[]string{"serve", "--lamp-size", "3", "--log-format", ""}, []string{"json", "text"}},
		"the argument of a command":        {[]string{"completion", "z"}, []string{"zsh"}},
		"nothing below an unknown command": {[]string{"serve", "red", "xyz"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ElementsMatch(t, c.want, complete(t, c.line...))
		})
	}
}

func TestOtherShellsAreRefused(t *testing.T) {
	t.Parallel()
	p := newProgram("completion", "tcsh")
	require.Equal(t, exitUsage, p.run(&commandSettings{}, func(context.Context, *App) error { return errors.New("started") }))
	require.Contains(t, p.errs.String(), `must be one of "bash","zsh"`)
}
