package boot

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

type commandSettings struct {
	Common
	Commands

	Serve struct {
		Color    string `default:"red" help:"A color."`
		LampHue  string `help:"A hue | or none."`
		LampSize int    `required:"" help:"A size."`
	} `cmd:"" help:"Serve."`
}

func TestCommandsOfEveryProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"version":          {[]string{"version"}, []string{"Rotaloom ", "time zones " + tzdb.Version()}},
		"version, as flag": {[]string{"--version"}, []string{"Rotaloom ", "time zones " + tzdb.Version()}},
		"version of a command that lacks a setting": {[]string{"serve", "--version"}, []string{"Rotaloom "}},
		"version as JSON": {[]string{"version", "--output", "json"}, []string{`{"version":"` + CurrentBuild().Version + `","revision":"`}},
		"settings as JSON": {[]string{"settings", "--output=json"}, []string{
			`{"command":"rotaloom-test serve","flag":"color","variable":"ROTALOOM_COLOR","default":"red","meaning":"A color."}`,
			`"flag":"lamp-size","variable":"ROTALOOM_LAMP_SIZE","required":true,`,
		}},
		"config as JSON": {[]string{"config", "--output=json", "serve", "--lamp-size=3"}, []string{
			`"lamp-size":{"value":3,"source":"flag"}`, `"color":{"value":"red","source":"default"}`,
		}},
		"settings": {[]string{"settings"}, []string{
			"### `rotaloom-test`", "| `--log-level` | `ROTALOOM_LOG_LEVEL` | `info` | Lowest level",
			"### `rotaloom-test serve`", "| `--color` | `ROTALOOM_COLOR` | `red` | A color. |\n",
			"| `--lamp-hue` | `ROTALOOM_LAMP_HUE` |  | A hue \\| or none. |\n", "| `--lamp-size` | `ROTALOOM_LAMP_SIZE` | `required` | A size. |\n",
		}},
		"help in groups": {[]string{"serve", "--help"}, []string{"\nLog\n", "\nLamp\n", "$ROTALOOM_LAMP_HUE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProgram(c.args...)
			code := p.run(&commandSettings{}, func(context.Context, *App) error { return errors.New("started") })
			assert.Equal(t, exitOK, code, p.errs.String())
			for _, want := range c.want {
				assert.Contains(t, p.out.String(), want)
			}
			assert.Empty(t, p.errs.String())
		})
	}
}

func TestTheVersionNamesTheCommit(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for want, c := range map[string]struct {
		tagged, commit string
		modified       bool
	}{
		"1.2.0":                        {"1.2.0", commit, false},
		"1.3.0-g0123456789ab":          {"", commit, false},
		"1.3.0-g0123456789ab.modified": {"", commit, true},
		"1.3.0-unknown":                {"", "", false},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, version("1.3.0", c.tagged, c.commit, c.modified))
		})
	}
}

// The number of the next release stands in one file. The changelog begins with the same number.
func TestTheChangelogBeginsWithTheRelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	first := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)\b`).FindSubmatch(text)
	require.NotNil(t, first)
	assert.Equal(t, string(first[1])+"\n", release)
}

// Not parallel: it changes the environment.
func TestTheVersionOfADeploymentIsNoFlag(t *testing.T) {
	t.Setenv("ROTALOOM_VERSION", "7")
	p := newProgram("--color=red")
	assert.Equal(t, exitFailed, p.run(&testSettings{}, func(context.Context, *App) error { return errors.New("started") }))
	assert.Contains(t, p.errs.String(), "started")
}

func TestOperatorsSeeTheBuild(t *testing.T) {
	t.Parallel()
	registry := obs.NewRegistry()
	require.NoError(t, registry.Register(buildInfo()))
	server := httptest.NewServer(AdminHandler(AdminConfig{}, NewChecks(), registry))
	defer server.Close()
	for path, want := range map[string]string{
		"/readyz":  `"timeZones":"` + tzdb.Version() + `"`,
		"/metrics": `time_zones="` + tzdb.Version() + `"`,
	} {
		t.Run(path, func(t *testing.T) {
			response, err := http.Get(server.URL + path)
			require.NoError(t, err)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, errors.Join(err, response.Body.Close()))
			assert.Contains(t, string(body), want, path)
		})
	}
}

// Scrapers that request OpenMetrics get the traces of slow requests.
func TestMetricsHaveExemplars(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	slow := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "some_seconds", Help: "Some.", Buckets: []float64{1}})
	registry.MustRegister(slow)
	slow.(prometheus.ExemplarObserver).ObserveWithExemplar(0.5, prometheus.Labels{"trace_id": "0af7"})
	server := httptest.NewServer(AdminHandler(AdminConfig{}, NewChecks(), registry))
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/metrics", nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	assert.Contains(t, string(body), `# {trace_id="0af7"} 0.5`)
}
