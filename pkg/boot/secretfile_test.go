package boot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettingsFromFiles(t *testing.T) {
	t.Parallel()
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "setting")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, c := range []struct {
		name        string
		args        []string
		environment map[string]string
		color       string
		refused     string
	}{
		{name: "a file", environment: map[string]string{"ROTALOOM_COLOR_FILE": write("green\n")}, color: "green"},
		{name: "the flag wins", args: []string{"--color=red"}, environment: map[string]string{"ROTALOOM_COLOR_FILE": write("green")}, color: "red"},
		{
			name:        "a variable and a file",
			environment: map[string]string{"ROTALOOM_COLOR": "blue", "ROTALOOM_COLOR_FILE": write("green")},
			refused:     "ROTALOOM_COLOR and ROTALOOM_COLOR_FILE are both set",
		},
		{name: "no such file", environment: map[string]string{"ROTALOOM_COLOR_FILE": "/nowhere/color"}, refused: "ROTALOOM_COLOR_FILE: open /nowhere/color"},
		{name: "no file is named", environment: map[string]string{"ROTALOOM_COLOR_FILE": ""}, refused: "missing flags: --color"},
		{
			name:        "a file that is not a setting",
			environment: map[string]string{"ROTALOOM_COLOR_FILE": write(strings.Repeat("x", maxSettingFile+1))},
			refused:     "more than 65536 bytes",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, settings := newProgram(c.args...), &testSettings{}
			p.lookup = func(name string) (string, bool) {
				value, ok := c.environment[name]
				return value, ok
			}
			code := p.run(settings, func(context.Context, *App) error { return errors.New("enough") })
			if c.refused != "" {
				assert.Equal(t, exitUsage, code)
				assert.Contains(t, p.errs.String(), c.refused)
				return
			}
			assert.Equal(t, c.color, settings.Color, p.errs.String())
		})
	}
}
