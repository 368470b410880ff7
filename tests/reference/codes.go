package reference

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Links all of them.
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// The constants with the error codes are their registry. Each has a comment: "Name (status): when.
// What to do." The default status is 400; without the last part, the advice follows from the
// status.

// codeForm is the form of a code: a domain of the specified API, or ours.
var codeForm = regexp.MustCompile(`^(W[A-Z]{2}-[0-9]{5,6}|WFM-COMMON-[0-9]+)$`)

// comment splits the comment of a code into its parts.
var comment = regexp.MustCompile(`(?s)^\w+(?: \(([^)]*)\))?: (.*?[.])(?:\s+(.*))?$`)

// errorCode is an error code of the programs.
type errorCode struct {
	code, status, when, todo string
	texts                    []string
	at                       string // position of the declaration
}

// sources are the parsed files of the programs.
type sources struct {
	files token.FileSet
	// packages has the files of each folder, by its path below the root.
	packages map[string][]*ast.File
	// names has the code of each constant, by folder and name.
	names map[string]map[string]string
	codes map[string]*errorCode
	// problems lists faults in the declarations and uses of codes.
	problems []string
}

// readCodes reads the codes of the programs below a root.
func readCodes(root string) (*sources, error) {
	s := &sources{packages: map[string][]*ast.File{}, names: map[string]map[string]string{}, codes: map[string]*errorCode{}}
	for _, top := range []string{"pkg", "gateway", "services"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(&s.files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(name))
			s.packages[folder] = append(s.packages[folder], file)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the sources: %w", err)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(s.packages)) {
		for _, file := range s.packages[folder] {
			s.declarations(folder, file)
		}
	}
	if err := s.contracts(root); err != nil {
		return nil, fmt.Errorf("read the contracts: %w", err)
	}
	for _, folder := range slices.Sorted(maps.Keys(s.packages)) {
		for _, file := range s.packages[folder] {
			s.uses(folder, file)
		}
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		s.ranges(file.Messages())
		return true
	})
	for _, c := range s.codes {
		if c.when == "" {
			s.problems = append(s.problems, fmt.Sprintf("%s: %s needs a comment: // Name (status): when. What to do.", c.at, c.code))
		}
		slices.Sort(c.texts)
		c.texts = slices.Compact(c.texts)
	}
	slices.Sort(s.problems)
	return s, nil
}

// declarations collects the codes that a file declares.
func (s *sources) declarations(folder string, file *ast.File) {
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					doc := value.Doc
					if doc == nil && !group.Lparen.IsValid() {
						doc = group.Doc
					}
					s.declare(folder, name, value.Values[i], doc)
				}
			}
		}
	}
}

func (s *sources) declare(folder string, name *ast.Ident, value ast.Expr, doc *ast.CommentGroup) {
	code := literal(value)
	if !codeForm.MatchString(code) {
		return
	}
	if s.names[folder] == nil {
		s.names[folder] = map[string]string{}
	}
	s.names[folder][name.Name] = code
	c := s.codes[code]
	if c == nil {
		c = &errorCode{code: code, at: s.files.Position(name.Pos()).String()}
		s.codes[code] = c
	}
	parts := comment.FindStringSubmatch(strings.TrimSpace(doc.Text()))
	if parts == nil || c.when != "" && folder != "pkg/fault" {
		return
	}
	c.status, c.when, c.todo = cmp.Or(parts[1], "400"), line(parts[2]), line(parts[3])
}

// uses collects the texts that a file uses with codes.
func (s *sources) uses(folder string, file *ast.File) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		if below, ok := strings.CutPrefix(target, "github.com/rotaloom/rotaloom/"); ok {
			name := path.Base(target)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imports[name] = below
		}
	}
	constant := false
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GenDecl:
			constant = n.Tok == token.CONST
		case *ast.FuncDecl:
			constant = false
		case *ast.BasicLit:
			if text := literal(n); !constant && codeForm.MatchString(text) {
				s.problems = append(s.problems, fmt.Sprintf("%s: %s is used without a constant", s.files.Position(n.Pos()), text))
			}
		case *ast.CallExpr:
			s.call(folder, imports, n)
		}
		return true
	})
}

// call collects the text of a call with a code and a text among its arguments.
func (s *sources) call(folder string, imports map[string]string, call *ast.CallExpr) {
	if at := choices[calledName(call)]; at > 0 {
		for _, argument := range call.Args[:at] {
			if found := s.code(folder, imports, argument); found != nil {
				found.texts = append(found.texts, choiceText(call, at))
			}
		}
		return
	}
	if calledName(call) == "fault.OverLimit" {
		if found := s.code(folder, imports, call.Args[0]); found != nil {
			found.texts = append(found.texts, limitText(template(call.Args[2]), literal(call.Args[len(call.Args)-1])))
		}
		return
	}
	var found *errorCode
	for _, argument := range call.Args {
		found = cmp.Or(s.code(folder, imports, argument), found)
		text := callText(argument)
		if found != nil && strings.Contains(text, " ") {
			found.texts = append(found.texts, line(text))
			return
		}
	}
}

// code returns the code that an expression names, or nil.
func (s *sources) code(folder string, imports map[string]string, e ast.Expr) *errorCode {
	switch e := e.(type) {
	case *ast.Ident:
		return s.codes[s.names[folder][e.Name]]
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok {
			return s.codes[s.names[imports[of.Name]][e.Sel.Name]]
		}
	}
	return nil
}

// choices are the functions that build the text of a choice, with the position of its path among
// their arguments, after the codes.
var choices = map[string]int{
	"fault.ExactlyOne": 1, "fault.AtMostOne": 1, "fault.OneOf": 2,
	"reflist.ExactlyOne": 1, "reflist.AtMostOne": 1,
}

// calledName returns the name of a called function of another package, such as "fault.Invalid".
func calledName(call *ast.CallExpr) string {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		if of, ok := selector.X.(*ast.Ident); ok {
			return of.Name + "." + selector.Sel.Name
		}
	}
	return ""
}

// choiceText returns the text of a call of one of the choices, whose path has the position at.
func choiceText(call *ast.CallExpr, at int) string {
	name, path, names := calledName(call), template(call.Args[at]), "ids, qualifiers and refs"
	if strings.HasPrefix(name, "fault.") {
		names = template(call.Args[at+1])
	}
	if strings.HasSuffix(name, ".AtMostOne") {
		return path + " takes only one of " + names + "."
	}
	return path + " needs exactly one of " + names + "."
}

// limitText returns the text that fault.OverLimit builds from a quantity and advice. Without advice
// in the call, it is the advice to split the request.
func limitText(quantity, advice string) string {
	return "Service limits are exceeded: " + quantity + ": %d, allowed: %d. " + cmp.Or(advice, fault.SplitRequest)
}

// callText returns the text of a literal, or of the format of a call such as fmt.Sprintf.
func callText(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 {
		return literal(call.Args[0])
	}
	return literal(e)
}

// literal returns the text of a literal, or of several concatenated ones.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// template returns the text of an expression, with "%s" for each variable in it.
func template(e ast.Expr) string {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return template(sum.X) + template(sum.Y)
	}
	return cmp.Or(literal(e), "%s")
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// sortedCodes returns the codes in order.
func (s *sources) sortedCodes() []*errorCode {
	return slices.SortedFunc(maps.Values(s.codes), func(a, b *errorCode) int { return cmp.Compare(a.code, b.code) })
}

// limitForm matches the limits in the contracts, with their parts.
var limitForm = regexp.MustCompile(`limits?[:=\s]*\{[^{}]*code: "([^"]+)"(?:[^{}]|\{[a-z]+\})*\}`)

// forbiddenForm matches the codes for callers without a permission.
var forbiddenForm = regexp.MustCompile(`forbidden_code: "([^"]+)"`)

var limitStatus, limitQuantity = regexp.MustCompile(`status: (\d+)`), regexp.MustCompile(`quantity: "([^"]+)"`)

// contracts collects the codes that only the contracts name: codes of limits and of permissions.
func (s *sources) contracts(root string) error {
	return filepath.WalkDir(filepath.Join(root, "proto/api"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".proto") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, limit := range limitForm.FindAllStringSubmatch(string(text), -1) {
			if code := limit[1]; codeForm.MatchString(code) && s.codes[code] == nil {
				s.codes[code] = &errorCode{
					code: code, at: name, status: cmp.Or(first(limitStatus, limit[0]), "413"),
					when: "the request has more " + cmp.Or(first(limitQuantity, limit[0]), "items") + " than the operation takes (see [operations](operations.md)).",
				}
			}
		}
		for _, forbidden := range forbiddenForm.FindAllStringSubmatch(string(text), -1) {
			if code := forbidden[1]; s.codes[code] == nil {
				s.codes[code] = &errorCode{
					code: code, at: name, status: "403", when: "the caller lacks the permission of the operation (see [operations](operations.md)).",
				}
			}
		}
		return err
	})
}

// limit collects the text of a limit.
func (s *sources) limit(l *optionsv1.Limit) {
	if found := s.codes[l.GetCode()]; found != nil {
		text := cmp.Or(l.GetMessage(), limitText("%s in the request", ""))
		found.texts = append(found.texts, placeholder.ReplaceAllString(text, "%d"))
	}
}

// ranges collects the texts of the limits of messages, and of the ranges, lengths and limits of
// fields.
func (s *sources) ranges(messages protoreflect.MessageDescriptors) {
	take := func(field protoreflect.FieldDescriptor, code, text string) {
		switch found := s.codes[code]; {
		case found != nil:
			found.texts = append(found.texts, placeholder.ReplaceAllString(text, "%s"))
		case code != fault.CodeInput: // It has the form of another program's codes.
			s.problems = append(s.problems, fmt.Sprintf("a range of %s has the code %s, which no constant has", field.FullName(), code))
		}
	}
	for i := range messages.Len() {
		message, _ := proto.GetExtension(messages.Get(i).Options(), optionsv1.E_Message).(*optionsv1.Message)
		for _, l := range message.GetLimits() {
			s.limit(l)
		}
		fields := messages.Get(i).Fields()
		for k := range fields.Len() {
			options, _ := proto.GetExtension(fields.Get(k).Options(), optionsv1.E_Field).(*optionsv1.Field)
			for _, r := range options.GetRanges() {
				take(fields.Get(k), r.GetCode(), policy.RangeMessage(r))
			}
			s.limit(options.GetLimit())
			if length := options.GetLength(); length != nil {
				take(fields.Get(k), length.GetCode(), policy.LengthMessage(length))
			}
		}
		s.ranges(messages.Get(i).Messages())
	}
}

// placeholder matches the placeholders in a message of a contract.
var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

func first(form *regexp.Regexp, text string) string {
	if found := form.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
