package reference

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// commands are the programs, the one that is all of them first.
var commands = []string{
	"services/standalone/cmd/rotaloom", "gateway/cmd/gateway", "services/auth/cmd/auth", "services/commons/cmd/commons",
	"services/timekeeping/cmd/timekeeping", "services/scheduling/cmd/scheduling", "services/scheduling/cmd/propagator",
	"services/recruiting/cmd/recruiting", "services/platform/cmd/platform",
}

const settingsHead = `# Settings

Made from the programs by ` + "`make reference`" + `; each prints its own part with ` + "`<program> settings`" + `. A setting is a flag, or the
variable behind it when the flag is not given, or what stands in the file that this variable with ` + "`_FILE`" + ` at its end names
(` + "`ROTALOOM_DATABASE_URL_FILE=/run/secrets/database`" + `): best for secrets. Behind these stands
a YAML file that ` + "`--config`" + ` names, with the names of flags as keys (` + "`listen: \":8443\"`" + `, ` + "`trusted-proxies: [10.0.0.0/8]`" + `); a name that the program does not have is refused.
Settings under the name of a program count for all its commands. ` + "`<program> config [command] [flags]`" + ` checks the settings and prints those that count, as such a
file, each with where it comes from; secrets are hidden.
`

// Every flag is on the page, and has a variable and a description.
func TestEverySettingIsOnThePage(t *testing.T) {
	t.Parallel()
	page := strings.Builder{}
	page.WriteString(settingsHead)
	for _, command := range commands {
		binary := launch.Build(t, command)
		out, errs, code := launch.Run(t, binary, nil, "settings")
		require.Zero(t, code, errs)
		name := command[strings.LastIndex(command, "/")+1:]
		page.WriteString("\n## " + name + "\n" + out)
	}
	requirePage(t, "docs/configuration.md", page.String())
	requireRows(t, page.String())
}

var row = regexp.MustCompile("(?m)^\\| `--([a-z0-9-]+)` \\| (.*?) \\| .* \\| (.*) \\|$")

// requireRows requires that every flag has a variable and a description.
func requireRows(t *testing.T, page string) {
	t.Helper()
	rows := row.FindAllStringSubmatch(page, -1)
	require.Equal(t, strings.Count(page, "\n| `--"), len(rows), "lines that are not of the form")
	for _, r := range rows {
		assert.True(t, strings.HasPrefix(r[2], "`ROTALOOM_"), "--%s has no variable", r[1])
		assert.Contains(t, r[3], ".", "--%s says nothing", r[1])
	}
}

// withoutJSON lists the commands that print nothing for other programs.
var withoutJSON = map[string]string{"serve": "it prints a log", "config": "a first argument --output=json", "completion": "it prints a script"}

// Each command that prints has JSON output, by a flag of the same name.
func TestEveryCommandHasJSONOutput(t *testing.T) {
	t.Parallel()
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			binary := launch.Build(t, command)
			out, errs, code := launch.Run(t, binary, nil, "settings", "--output", "json")
			require.Zero(t, code, errs)
			var settings []struct{ Command, Flag string }
			require.NoError(t, json.Unmarshal([]byte(out), &settings))
			has := map[string]bool{}
			for _, s := range settings {
				_, name, _ := strings.Cut(s.Command, " ")
				has[name] = has[name] || s.Flag == "output"
			}
			help, errs, code := launch.Run(t, binary, nil, "--help")
			require.Zero(t, code, errs)
			listed := commandLine.FindAllStringSubmatch(help, -1)
			require.NotEmpty(t, listed)
			for _, line := range listed {
				assert.True(t, has[line[1]] || withoutJSON[line[1]] != "", "%s has no --output", line[1])
			}
		})
	}
}

// commandLine is the line of a command in the help text.
var commandLine = regexp.MustCompile(`(?m)^  ([a-z][a-z -]*?)(?: [\[<-].*)?$`)

// The programs have the same commands, and name their version in the same way.
func TestEveryProgramHasTheSameCommands(t *testing.T) {
	t.Parallel()
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			binary := launch.Build(t, command)
			help, errs, code := launch.Run(t, binary, nil, "--help")
			require.Zero(t, code, errs)
			for _, name := range []string{"serve", "migrate", "version", "settings", "config"} {
				assert.Regexp(t, "(?m)^  "+name+" ", help)
			}
			config, errs, code := launch.Run(t, binary, []string{"ROTALOOM_LOG_LEVEL=warn"}, "config")
			require.Zero(t, code, errs)
			assert.Contains(t, config, "log-level: warn # ROTALOOM_LOG_LEVEL\n")
			version, _, code := launch.Run(t, binary, nil, "version")
			require.Zero(t, code)
			flag, _, code := launch.Run(t, binary, []string{"ROTALOOM_VERSION=7"}, "--version")
			require.Zero(t, code)
			assert.Equal(t, version, flag)
			assert.Regexp(t, `^Rotaloom \d+\.\d+\.\d+(-\S+)? \(revision .+, go\S+, time zones \d{4}[a-z]+\)\n$`, version)
		})
	}
}
