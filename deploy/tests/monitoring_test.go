package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const (
	alertsFile    = chartDir + "/files/alerts.yaml"
	dashboardFile = chartDir + "/files/dashboard.json"
	alertsPage    = "../../docs/operations/alerts.md"
	metricsPage   = "../../docs/metrics.md"
)

// alert is a rule of Prometheus.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func readYAML[T any](t *testing.T, path string) (parsed T) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &parsed, yaml.DisallowUnknownFields), path)
	return parsed
}

func alerts(t *testing.T) []alert {
	t.Helper()
	type rules struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	var all []alert
	for _, group := range readYAML[rules](t, alertsFile).Groups {
		all = append(all, group.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// queries returns the queries of the dashboard, by the title of the panel.
func queries(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	found, ids := map[string][]string{}, map[int]bool{}
	for _, panel := range dashboard.Panels {
		assert.False(t, ids[panel.ID], "%s has the id of another panel", panel.Title)
		ids[panel.ID] = true
		for _, target := range panel.Targets {
			found[panel.Title] = append(found[panel.Title], strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*").Replace(target.Expr))
		}
	}
	require.NotEmpty(t, found)
	return found
}

// promtool runs Prometheus' own tool in a folder.
func promtool(t *testing.T, dir string, args ...string) {
	t.Helper()
	find := exec.CommandContext(t.Context(), "../../tools/promtool.sh")
	find.Stderr = os.Stderr
	path, err := find.Output()
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), strings.TrimSpace(string(path)), args...)
	run.Dir = dir
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func copyTo(t *testing.T, dir, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600))
}

// Each alert fires when it should, and stays silent otherwise.
func TestAlertsGoOff(t *testing.T) {
	t.Parallel()
	const cases = "testdata/alerts.test.yaml"
	dir := t.TempDir()
	copyTo(t, dir, alertsFile)
	copyTo(t, dir, cases)
	promtool(t, dir, "check", "rules", filepath.Base(alertsFile))
	promtool(t, dir, "test", "rules", filepath.Base(cases))

	type caseFile struct {
		Tests []struct {
			Rules []struct {
				Alert    string `json:"alertname"`
				Expected []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	text, err := os.ReadFile(cases)
	require.NoError(t, err)
	var tried caseFile
	require.NoError(t, yaml.Unmarshal(text, &tried))
	goesOff, isSilent := map[string]bool{}, map[string]bool{}
	for _, test := range tried.Tests {
		for _, rule := range test.Rules {
			goesOff[rule.Alert] = goesOff[rule.Alert] || len(rule.Expected) > 0
			isSilent[rule.Alert] = isSilent[rule.Alert] || len(rule.Expected) == 0
		}
	}
	for _, a := range alerts(t) {
		assert.True(t, goesOff[a.Alert], "no case in which %s fires", a.Alert)
		assert.True(t, isSilent[a.Alert], "no case in which %s is silent", a.Alert)
	}
}

// Every alert has instructions for the person who is on call.
func TestEveryAlertHasARunbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(alertsPage)
	require.NoError(t, err)
	var sections, names []string
	for _, heading := range regexp.MustCompile(`(?m)^## (\w+)\n\n.{40}`).FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, heading[1])
	}
	for _, a := range alerts(t) {
		names = append(names, a.Alert)
		assert.Equal(t, "docs/operations/alerts.md#"+strings.ToLower(a.Alert), a.Annotations["runbook"], a.Alert)
		assert.NotEmpty(t, a.Annotations["summary"], a.Alert)
		assert.Contains(t, []string{"warning", "critical"}, a.Labels["severity"], a.Alert)
	}
	assert.Equal(t, names, sections, "the sections of the page are the alerts, in their order")
}

// A Prometheus server can parse the queries of the dashboard.
func TestPrometheusParsesTheQueries(t *testing.T) {
	t.Parallel()
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, exprs := range queries(t) {
		for _, expr := range exprs {
			rules = append(rules, rule{fmt.Sprintf("query:%d", len(rules)), expr})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dashboard.yaml"), text, 0o600))
	promtool(t, dir, "check", "rules", "dashboard.yaml")
}

// listMetrics returns the metrics of the product by name, with their labels.
func listMetrics(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(metricsPage)
	require.NoError(t, err)
	metrics := map[string][]string{}
	label := regexp.MustCompile("`(\\w+)`")
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| (.*?) \\|").FindAllStringSubmatch(string(page), -1) {
		var labels []string
		for _, name := range label.FindAllStringSubmatch(row[3], -1) {
			labels = append(labels, name[1])
		}
		if row[2] != "histogram" {
			metrics[row[1]] = labels
			continue
		}
		metrics[row[1]+"_sum"], metrics[row[1]+"_count"], metrics[row[1]+"_bucket"] = labels, labels, append([]string{"le"}, labels...)
	}
	require.NotEmpty(t, metrics)
	return metrics
}

// Alerts and the dashboard use only metrics that the programs export, and use all of them.
func TestAlertsAndDashboardUseTheExportedMetrics(t *testing.T) {
	t.Parallel()
	metrics := listMetrics(t)
	// These labels come from Prometheus, or from pkg/obs for the metrics of a service.
	common := []string{"namespace", "pod", "instance", "service"}
	asked := map[string]bool{}
	check := func(where, expr string) {
		selector := regexp.MustCompile(`\b((?:rotaloom|go|process)_\w+)(?:\{(.*?)\})?`)
		allowed := slices.Clone(common)
		for _, found := range selector.FindAllStringSubmatch(expr, -1) {
			labels, known := metrics[found[1]]
			if strings.HasPrefix(found[1], "rotaloom_") {
				require.True(t, known, "%s asks for %s", where, found[1])
			}
			asked[found[1]] = true
			allowed = append(allowed, labels...)
			for _, matcher := range regexp.MustCompile(`(\w+)[=!]`).FindAllStringSubmatch(found[2], -1) {
				assert.Contains(t, append(slices.Clone(common), labels...), matcher[1], "%s: %s has no such label", where, found[1])
			}
		}
		for _, by := range regexp.MustCompile(`\b(?:by|on) \((.*?)\)`).FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				assert.Contains(t, allowed, label, where)
			}
		}
	}
	for _, a := range alerts(t) {
		check(a.Alert, a.Expr)
	}
	for title, exprs := range queries(t) {
		for _, expr := range exprs {
			check(title, expr)
		}
	}
	for name := range metrics {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		assert.True(t, asked[name] || asked[base+"_bucket"] || asked[base+"_count"], "no alert or panel uses %s", name)
	}
}
