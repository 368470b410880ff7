package reference

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// metric is one that the programs register.
type metric struct {
	name, kind, help string
	labels           []string
	vector           bool // made with labels
}

const metricsHead = `# Metrics

Made from the sources by ` + "`make reference`" + `. Every program shows its own on its admin listener, at ` + "`/metrics`" + `, beside those of the Go
runtime and of the process (` + "`go_*`, `process_*`" + `). Those of a service carry its name as the label ` + "`service`" + `. None has tenants,
clients or users as labels. A histogram has ` + "`_bucket`, `_sum` and `_count`" + `.

| metric | kind | labels | what it says |
|---|---|---|---|
`

func TestEveryMetricIsOnThePage(t *testing.T) {
	t.Parallel()
	metrics := readMetrics(t)
	page := strings.Builder{}
	page.WriteString(metricsHead)
	for _, m := range metrics {
		labels := ""
		for i, label := range m.labels {
			labels += strings.Repeat(", ", min(i, 1)) + "`" + label + "`"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.name, m.kind, labels, m.help)
	}
	requirePage(t, "docs/metrics.md", page.String())
}

// readMetrics reads the metrics of all programs from their sources.
func readMetrics(t *testing.T) []metric {
	t.Helper()
	root := launch.Root(t)
	var metrics []metric
	for _, folder := range []string{"pkg", "services", "gateway"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok {
					if m, made := readMetric(call); made {
						require.NotEmpty(t, m.name, "%s makes a metric whose name is not a literal", path)
						require.True(t, strings.HasSuffix(m.help, "."), "%s: %s says nothing", path, m.name)
						require.False(t, m.vector && len(m.labels) == 0, "%s: the labels of %s are not literals", path, m.name)
						metrics = append(metrics, m)
					}
				}
				return true
			})
			return nil
		})
		require.NoError(t, err)
	}
	slices.SortFunc(metrics, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	return metrics
}

var constructor = regexp.MustCompile(`^New(Counter|Gauge|Histogram|Summary)(Vec|Func)?$`)

// readMetric reads a call that creates a metric.
func readMetric(call *ast.CallExpr) (m metric, made bool) {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return m, false
	}
	if of, ok := function.X.(*ast.Ident); !ok || of.Name != "prometheus" {
		return m, false
	}
	if function.Sel.Name == "NewDesc" {
		m = metric{name: text(call.Args[0]), kind: "gauge", help: text(call.Args[1]), labels: texts(call.Args[2])}
		if strings.HasSuffix(m.name, "_total") {
			m.kind = "counter"
		}
		return m, true
	}
	kind := constructor.FindStringSubmatch(function.Sel.Name)
	if kind == nil {
		return m, false
	}
	m.kind = strings.ToLower(kind[1])
	options, ok := call.Args[0].(*ast.CompositeLit)
	if !ok {
		return m, true
	}
	for _, element := range options.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch fmt.Sprint(pair.Key) {
		case "Name":
			m.name = text(pair.Value)
		case "Help":
			m.help = text(pair.Value)
		case "ConstLabels":
			m.labels = keys(pair.Value)
		}
	}
	m.vector = kind[2] == "Vec"
	if len(call.Args) > 1 && m.vector {
		m.labels = texts(call.Args[1])
	}
	return m, true
}

// text is a string literal, or several that are added.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, _ := strconv.Unquote(e.Value)
		return value
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	default:
		return ""
	}
}

func texts(e ast.Expr) (list []string) {
	if literal, ok := e.(*ast.CompositeLit); ok {
		for _, element := range literal.Elts {
			list = append(list, text(element))
		}
	}
	return list
}

func keys(e ast.Expr) (list []string) {
	if literal, ok := e.(*ast.CompositeLit); ok {
		for _, element := range literal.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				list = append(list, text(pair.Key))
			}
		}
	}
	return list
}
