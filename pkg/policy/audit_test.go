package policy

import (
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// ours is the package prefix of the contracts that Audit looks at.
const ours = "rotaloom."

var permissionForm = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+\.(read|write)$`)

// Audit returns the faults of our contracts in files (nil: the contracts that are linked into the
// program): a missing route, a missing or contradictory policy, or an option that cannot be
// applied. A test requires that there are none.
func Audit(files *protoregistry.Files) []string {
	if files == nil {
		files = protoregistry.GlobalFiles
	}
	var problems []string
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(string(file.Package()), ours) {
			return true
		}
		problems = append(problems, auditMessages(file.Messages())...)
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				problems = append(problems, auditMethod(methods.Get(j))...)
			}
		}
		return true
	})
	return problems
}

func auditMethod(desc protoreflect.MethodDescriptor) []string {
	var problems []string
	report := func(format string, args ...any) {
		problems = append(problems, string(desc.FullName())+": "+fmt.Sprintf(format, args...))
	}
	if desc.IsStreamingClient() || desc.IsStreamingServer() {
		report("streams are not served")
	}
	m, err := compileMethod(desc)
	if err != nil {
		report("%v", err)
		return problems
	}
	routed := proto.HasExtension(desc.Options(), annotations.E_Http)
	switch {
	case m.Internal && routed:
		report("an internal method has a route")
	case !m.Internal && !routed:
		report("no route (google.api.http)")
	}
	switch {
	case !m.Governed():
		report("no policy: neither permission nor authenticated nor public nor internal")
	case count(m.Public, m.Internal, m.Authenticated, m.Permission != "") > 1:
		report("permission, authenticated, public and internal exclude one another")
	case m.Edge && !m.Internal:
		report("an operation for edges is not internal")
	case m.Internal && !m.Edge && len(m.Callers) == 0:
		report("no service may call the internal method: it names no callers")
	case m.Public && len(m.Callers) > 0:
		report("a public method names callers, although all callers may call it")
	case m.Permission != "" && !permissionForm.MatchString(m.Permission):
		report("permission %q is not <domain>.<resource>.<read|write>", m.Permission)
	}
	if problem := pagesProblem(desc, m); problem != "" {
		report("%s", problem)
	}
	return append(problems, auditVersions(desc, m)...)
}

// pagesProblem returns the reason why a client could not follow the links of a method with pages.
func pagesProblem(desc protoreflect.MethodDescriptor, m *Method) string {
	rule, _ := proto.GetExtension(desc.Options(), annotations.E_Http).(*annotations.HttpRule)
	text := func(name protoreflect.Name) bool {
		field := desc.Input().Fields().ByName(name)
		return field != nil && field.Kind() == protoreflect.StringKind
	}
	switch {
	case !m.Pages:
	case rule.GetGet() == "" && (rule.GetPost() == "" || rule.GetBody() != "*"):
		return "has pages, but is neither GET nor a POST with all values in its body"
	case m.Parts:
		return "has pages, but its response may begin before it reports them"
	case !text("after") && desc.Input().Fields().ByName("page") == nil:
		return "has pages, but neither the query parameter after nor page"
	}
	return ""
}

// auditVersions checks that what shows a version and can be replaced is versioned. That
// versioned operations have and compare a version is what tests/contract walks over.
func auditVersions(desc protoreflect.MethodDescriptor, m *Method) []string {
	rule, _ := proto.GetExtension(desc.Options(), annotations.E_Http).(*annotations.HttpRule)
	var problems []string
	report := func(what string) {
		problems = append(problems, string(desc.FullName())+" "+what)
	}
	replaces := rule.GetPut() != "" || strings.Contains(rule.GetPost(), "{")
	if !m.Versioned && replaces && hasVersion(m.Output) {
		report("replaces an object with a version, but is not versioned")
	}
	return problems
}

// auditMessages checks the options that name fields.
func auditMessages(messages protoreflect.MessageDescriptors) []string {
	var problems []string
	for i := range messages.Len() {
		desc := messages.Get(i)
		opts := messageOptions(desc)
		if name := opts.GetBareArray(); name != "" {
			if field := desc.Fields().ByName(protoreflect.Name(name)); field == nil || !field.IsList() {
				problems = append(problems, fmt.Sprintf("%s: bare_array %q is not a repeated field", desc.FullName(), name))
			}
		}
		if name := opts.GetFailure(); name != "" {
			if field := desc.Fields().ByName(protoreflect.Name(name)); field == nil || field.Message() == nil {
				problems = append(problems, fmt.Sprintf("%s: failure %q is not a message field", desc.FullName(), name))
			}
		}
		problems = append(problems, auditMessages(desc.Messages())...)
	}
	return problems
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

func hasVersion(d protoreflect.MessageDescriptor) bool {
	return VersionField(d) != nil || wrapsVersions(d)
}
