package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// idioms are expressions that make native readers stop. Most leave out the noun. A match is a place
// to read: the bounds of languageBounds leave room for sentences that are right as they are.
var idioms = []struct {
	name    string
	pattern *regexp.Regexp
	// except matches the finds of pattern that are plain English.
	except *regexp.Regexp
	advice string
}{
	{
		"a clause begins with who", regexp.MustCompile(`(?:^|[.;:,] |\()(?:[Ww]ho|[Ww]hoever|[Ww]hom|[Ww]hose) \w+`), regexp.MustCompile(` else$`),
		"name the persons: callers, managers, readers",
	},
	{
		"what stands for a noun",
		regexp.MustCompile(`\b[Ww]hat (?:is|was|are|were|there|it|they|a|an|the|others|somebody|people|callers|nobody|came|comes|has|had|must|may|can|cannot|only|goes|stands|belongs|follows|follow|does|do|no|nothing|waits|wait|else)\b`), nil,
		"name the thing: the request, the columns, the differences",
	},
	{"that of", regexp.MustCompile(`\b(?:that|those) of\b`), nil, "repeat the noun"},
	{
		"of which", regexp.MustCompile(`\b(?:of|by|in|from|at|on|under|for|to|with) (?:which|whom)\b`), nil,
		"begin a new sentence, or use whose and where",
	},
	{"is no", regexp.MustCompile(`\b(?:is|are|was|were) no \w+`), regexp.MustCompile(` no (?:longer|more)$`), `write "is not a", or "there is no"`},
	{"any more", regexp.MustCompile(`\b(?:any|no) more\b`), nil, `write "no longer", or "further"`},
	{
		"an old-fashioned phrase", regexp.MustCompile(`\b(?:anew|meanwhile|a moment ago|such a one|in the midst|all the same|let in|by itself)\b`), nil,
		`write "again", "in the meantime", "one of them", "alone"`,
	},
	{"a clause begins with whatever", regexp.MustCompile(`(?:^|[.;] )(?:Whatever|Whichever)\b`), nil, `name the thing: "every value that"`},
	{"somebody", regexp.MustCompile(`\b(?:somebody|nobody|everybody)\b`), nil, "name the persons: a user, no caller, all employees"},
}

var (
	// verbless matches function names without a verb or noun: participles, and names like keyOf.
	verbless = regexp.MustCompile(`^(?:[a-z]+(?:ed|en|wn|ld|pt)|[a-z]\w*[a-z]Of|made|kept|sent|left|put|own|within|of|each|both|free|once|such|like|as|by|from|beside|among|one|work)$`)
	// verbsAndNouns are words that verbless takes for participles.
	verbsAndNouns = regexp.MustCompile(`^(?:accept|build|embed|feed|field|happen|hold|listen|need|open|seed|token|shorten|typescript)$`)
)

// languageBounds are the greatest shares in percent. Lower a bound when the text became better; a
// higher bound needs a reason.
var languageBounds = []struct {
	name             string
	includes         func(file string) bool
	idioms, verbless float64
}{
	{"product Go", func(f string) bool { return strings.HasSuffix(f, ".go") && !isTestCode(f) }, 1.9, 0},
	{"test Go", func(f string) bool { return strings.HasSuffix(f, ".go") && isTestCode(f) }, 2, 0.3},
	{"proto", func(f string) bool { return strings.HasSuffix(f, ".proto") }, 1, 0},
	{"SQL", func(f string) bool { return strings.HasSuffix(f, ".sql") }, 2, 0},
}

func isTestCode(file string) bool {
	return strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "tests/") || strings.HasPrefix(file, "pkg/testkit/")
}

// TestCommentsArePlainEnglish keeps the share of comments with idioms, and of functions whose names
// have no verb, below a bound.
func TestCommentsArePlainEnglish(t *testing.T) {
	t.Parallel()
	files := readTexts(t)
	for _, bound := range languageBounds {
		var comments, functions int
		var foreign, unclear []string
		for _, f := range files {
			if bound.includes(f.name) {
				comments, functions = comments+f.comments, functions+f.functions
				foreign, unclear = append(foreign, f.idioms...), append(unclear, f.verbless...)
			}
		}
		require.Greater(t, comments, 100, bound.name)
		share := 100 * float64(len(foreign)) / float64(comments)
		assert.LessOrEqual(t, share, bound.idioms, "idioms in %.2f %% of the %d comments of %s:\n%s",
			share, comments, bound.name, strings.Join(foreign, "\n"))
		share = 100 * float64(len(unclear)) / float64(max(functions, 1))
		assert.LessOrEqual(t, share, bound.verbless, "%.2f %% of the %d functions of %s have no verb: write requireStored or cacheKey, not stored or keyOf:\n%s",
			share, functions, bound.name, strings.Join(unclear, "\n"))
	}
}

func TestIdiomsAreFound(t *testing.T) {
	t.Parallel()
	for text, idiom := range map[string]string{
		"callers wait. Who waits gets a token": "a clause begins with who",
		"it returns what is left":              "what stands for a noun",
		"the id of the row, not that of a key": "that of",
		"the query by which rows are found":    "of which",
		"a text that is no token":              "is no",
		"it does not run any more":             "any more",
		"read the row anew":                    "an old-fashioned phrase",
		"Whatever fails is reported":           "a clause begins with whatever",
		"nobody reads it":                      "somebody",
		"it is no longer valid; for whoever, who else, reads what this returns": "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			name, _ := findIdiom(text)
			assert.Equal(t, idiom, name)
		})
	}
	for name, plain := range map[string]bool{"stored": false, "keyOf": false, "of": false, "listen": true, "cacheKey": true, "requireStored": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, plain, !verbless.MatchString(name) || verbsAndNouns.MatchString(name))
		})
	}
}

// findIdiom returns the name of the first idiom of a text and the advice against it.
func findIdiom(text string) (name, advice string) {
	for _, idiom := range idioms {
		for _, found := range idiom.pattern.FindAllString(text, -1) {
			if idiom.except == nil || !idiom.except.MatchString(found) {
				return idiom.name, idiom.advice
			}
		}
	}
	return "", ""
}

// textFile counts the comments and functions of a file, and lists the places to read.
type textFile struct {
	name                string
	comments, functions int
	idioms, verbless    []string
}

func (f *textFile) addComment(line int, text string) {
	if strings.HasPrefix(text, "//go:") || strings.HasPrefix(text, "//nolint") {
		return
	}
	f.comments++
	text = strings.Join(strings.Fields(commentMarker.ReplaceAllString(text, " ")), " ")
	if name, advice := findIdiom(text); name != "" {
		f.idioms = append(f.idioms, fmt.Sprintf("%s:%d: %s (%s): %.120s", f.name, line, name, advice, text))
	}
}

// readTexts measures all sources below the root of the workspace that are not generated.
func readTexts(t *testing.T) []*textFile {
	t.Helper()
	top := filepath.Join("..", "..")
	var files []*textFile
	require.NoError(t, filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			if name == ".git" || name == "testdata" || name == "node_modules" || path == filepath.Join(top, "proto", "gen") {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext == ".go" || ext == ".proto" || ext == ".sql" {
			name, err := filepath.Rel(top, path)
			files = append(files, &textFile{name: filepath.ToSlash(name)})
			return err
		}
		return nil
	}))
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, f := range files {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			assert.NoError(t, f.read(top))
		})
	}
	group.Wait()
	return files
}

func (f *textFile) read(top string) error {
	text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(f.name)))
	switch {
	case err != nil:
		return err
	case strings.HasSuffix(f.name, ".go"):
		return f.readGo(text)
	case strings.HasSuffix(f.name, ".proto"):
		f.readLines(string(text), protoComments)
	default:
		f.readLines(sqlBodies.ReplaceAllStringFunc(string(text), func(body string) string {
			return strings.Repeat("\n", strings.Count(body, "\n"))
		}), sqlComments)
	}
	return nil
}

func (f *textFile) readGo(text []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, f.name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return err
	}
	for _, group := range file.Comments {
		var b strings.Builder
		for _, comment := range group.List {
			b.WriteString(comment.Text + "\n")
		}
		f.addComment(set.Position(group.Pos()).Line, b.String())
	}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			f.functions++
			if name := function.Name.Name; verbless.MatchString(name) && !verbsAndNouns.MatchString(name) {
				f.verbless = append(f.verbless, fmt.Sprintf("%s:%d: %s", f.name, set.Position(function.Pos()).Line, name))
			}
		}
	}
	return nil
}

var (
	commentMarker = regexp.MustCompile(`(?m)^\s*(?://|--|/\*)|\*/`)
	protoComments = regexp.MustCompile(`(?m)(?:^[ \t]*//.*\n)+|[ \t]//.*`)
	sqlComments   = regexp.MustCompile(`(?m)(?:^[ \t]*--.*\n)+|[ \t]--.*`)
	sqlBodies     = regexp.MustCompile(`(?s)\$\$.*?\$\$|\$body\$.*?\$body\$`)
)

// readLines measures the comments of a language without a parser here.
func (f *textFile) readLines(text string, comments *regexp.Regexp) {
	for _, at := range comments.FindAllStringIndex(text, -1) {
		f.addComment(strings.Count(text[:at[0]], "\n")+1, text[at[0]:at[1]])
	}
}
