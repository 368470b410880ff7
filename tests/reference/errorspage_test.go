package reference

import (
	html "html/template"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// errorsPage is the page that servers show at /docs/errors. Errors name it with the code as the fragment.
var errorsPage = html.Must(html.New("errors").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rotaloom: error codes</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/errors.css">
</head>
<body>
<h1>Error codes</h1>
<p>Each error names its row on this page in <code>help</code>. Codes that begin with WRL are ours; the others are those of the
specified API. A code never changes its meaning. In the texts, %s and its like stand for values. Give the
<code>requestId</code> of the error to the operator of the server, who finds the request in the log by it. See also the
<a href="/docs">description of the API</a>.</p>
<table>
<thead><tr><th>code</th><th>status</th><th>when</th><th>texts</th><th>what to do</th></tr></thead>
<tbody>
{{range .}}<tr id="{{.Code}}"><td><a href="#{{.Code}}">{{.Code}}</a></td><td>{{.Status}}</td><td>{{.When}}</td><td>
{{- if .Texts}}<ul>{{range .Texts}}<li>{{.}}</li>{{end}}</ul>{{end}}</td><td>{{.Advice}}</td></tr>
{{end}}</tbody>
</table>
</body>
</html>
`))

// errorsHTML returns the page of the error codes.
func (s *sources) errorsHTML(t *testing.T) string {
	t.Helper()
	type row struct {
		Code, Status, When, Advice string
		Texts                      []string
	}
	var rows []row
	for _, c := range s.sortedCodes() {
		rows = append(rows, row{c.code, c.status, withoutLinks(upper(c.when)), withoutLinks(c.advice(t)), c.shownTexts()})
	}
	var page strings.Builder
	require.NoError(t, errorsPage.Execute(&page, rows))
	return page.String()
}

// markdownLink is a link to another page of the documents, which a server does not have.
var markdownLink = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// withoutLinks returns a Markdown text with the words of its links only.
func withoutLinks(text string) string { return markdownLink.ReplaceAllString(text, "$1") }
