package reference

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

const codesHead = `# Error codes

Made from the programs by ` + "`make reference`" + `: the constants that hold the codes are their registry, and this page is what their comments say. An
error is an object of errorCode, message, details, requestId and help. help is the address of this page on the server. Codes that begin with
WRL are ours; the others are those of the specified API. A code never changes its meaning. In the texts, %s and its like stand for values; at
most four texts are shown. If a request has several faults of its values, details.violations has all of them.

| code | status | when | texts | what to do |
|---|---|---|---|---|
`

// todo is what to do about errors of a status whose code says nothing else.
var todo = map[string]string{
	"200": "Use the rest of the response, and request the missing items again.",
	"207": "Look at each item: those without an error are done.",
	"400": "Correct the request.",
	"401": "Log in, and send the new access token.",
	"403": "Ask an administrator for the permission.",
	"404": "Check the id, the name or the path.",
	"405": "Use a method that the header Allow names.",
	"408": "Send the body faster.",
	"409": "Read the object again, and repeat the change where it still applies.",
	"413": "Ask for less at a time.",
	"415": "Send the content type that the description names.",
	"422": "Use a new key for another request.",
	"429": "Try again after the time in Retry-After.",
	"500": "Report it with the request id.",
	"503": "Try again after the time in Retry-After.",
	"504": "Try again, or ask for less at a time.",
}

// maxTexts is how many texts of a code are shown.
const maxTexts = 4

var statusIn = regexp.MustCompile("[0-9]{3}")

func (c *errorCode) advice(t *testing.T) string {
	t.Helper()
	advice := c.todo
	if advice == "" {
		advice = todo[statusIn.FindString(c.status)]
	}
	assert.NotEmpty(t, advice, "%s (%s) says not what to do", c.code, c.status)
	return advice
}

func (c *errorCode) shownTexts() []string { return c.texts[:min(len(c.texts), maxTexts)] }

func (c *errorCode) row(t *testing.T) string {
	t.Helper()
	cells := []string{"`" + c.code + "`", c.status, upper(c.when), strings.Join(c.shownTexts(), " · "), c.advice(t)}
	for i, cell := range cells {
		cells[i] = strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(cell)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Every code is a constant with a comment, and is on the page.
func TestEveryErrorCodeIsOnThePage(t *testing.T) {
	t.Parallel()
	read, err := readCodes(launch.Root(t))
	require.NoError(t, err)
	require.Greater(t, len(read.codes), 150)
	require.Empty(t, read.problems, strings.Join(read.problems, "\n"))
	page := strings.Builder{}
	page.WriteString(codesHead)
	for _, c := range read.sortedCodes() {
		page.WriteString(c.row(t))
	}
	requirePage(t, "docs/error-codes.md", page.String())
	requirePage(t, "gateway/apidocs/page/errors.html", read.errorsHTML(t))
}

// codeIn finds codes in cases and contracts.
var codeIn = regexp.MustCompile(`\b(W[A-Z]{2}-[0-9]{5,6}|WFM-COMMON-[0-9]+)(?:["' ,}:.)\n]|$)`)

// What contracts and their cases name is a code of the registry.
func TestContractsNameNoOtherErrorCodes(t *testing.T) {
	t.Parallel()
	root := launch.Root(t)
	read, err := readCodes(root)
	require.NoError(t, err)
	seen, unknown := 0, map[string]string{}
	for _, folder := range []string{"tests/contract/cases", "proto/api"} {
		t.Run(folder, func(t *testing.T) {
			err := filepath.WalkDir(filepath.Join(root, folder), func(name string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				text, err := os.ReadFile(name)
				for _, code := range codeIn.FindAllStringSubmatch(string(text), -1) {
					code := code[1]
					seen++
					if read.codes[code] == nil {
						unknown[code] = name
					}
				}
				return err
			})
			require.NoError(t, err)
		})
	}
	assert.Empty(t, unknown)
	require.Greater(t, seen, 500)
}
