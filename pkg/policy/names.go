package policy

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
)

// Fields of requests that hold names of things to look up.
var (
	// nameFields are cleaned in every request.
	nameFields = []string{
		"name", "names", "qualifier", "qualifiers", "person_number", "person_numbers", "supervisor_person_number", "badge_number",
		"user_name", "username", "recipients_by_person_number", "recipient_person_nums", "emp_no", "employee_qualifiers", "employee_number", "access_profile",
	}
	nameEndings = []string{"_name", "_names", "_profile"}
	// freeNames end like the others, but are not looked up: names of people, which are stored as
	// sent, and of files.
	freeNames = []string{
		"first_name", "middle_name", "last_name", "preferred_first_name", "former_last_name", "full_name", "short_name",
		"file_name", "phonetic_full_name", "romanized_full_name",
	}
	// ownNames are the names that requests give to the objects that they write.
	ownNames = []string{"name", "person_number", "user_name", "username"}
)

// CleanNames replaces the names in a request with their stored form ([names.Clean]), so that the
// same name finds the same object in every request. In requests that write, it rejects new names
// that mix scripts within a word.
func (m *Method) CleanNames(req proto.Message) error {
	return m.names.check(req, m.body)
}

func isName(field protoreflect.FieldDescriptor) bool {
	if field.Kind() != protoreflect.StringKind || field.IsMap() {
		return false
	}
	name := string(field.Name())
	return slices.Contains(nameFields, name) || !slices.Contains(freeNames, name) &&
		slices.ContainsFunc(nameEndings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// nameChecks returns checks that clean the names of a message. For messages that write, they also
// reject mixed scripts.
func nameChecks(writes bool) checksOf {
	return func(desc protoreflect.MessageDescriptor) ([]check, error) {
		var checks []check
		for i := range desc.Fields().Len() {
			field := desc.Fields().Get(i)
			if !isName(field) {
				continue
			}
			if field.IsList() {
				checks = append(checks, cleanEach(field))
				continue
			}
			checks = append(checks, cleanField(field))
			if writes && slices.Contains(ownNames, string(field.Name())) {
				checks = append(checks, refuseMixed(field))
			}
		}
		return checks, nil
	}
}

func cleanField(field protoreflect.FieldDescriptor) check {
	return func(m protoreflect.Message) *failure {
		if !m.Has(field) {
			return nil
		}
		given := m.Get(field).String()
		if name := names.Clean(given); name != given {
			m.Set(field, protoreflect.ValueOfString(name))
		}
		return nil
	}
}

func cleanEach(field protoreflect.FieldDescriptor) check {
	return func(m protoreflect.Message) *failure {
		list := m.Get(field).List()
		for i := range list.Len() {
			given := list.Get(i).String()
			if name := names.Clean(given); name != given {
				list.Set(i, protoreflect.ValueOfString(name))
			}
		}
		return nil
	}
}

func refuseMixed(field protoreflect.FieldDescriptor) check {
	return func(m protoreflect.Message) *failure {
		word, scripts, mixed := names.Mixed(m.Get(field).String())
		if !mixed {
			return nil
		}
		failed := &failure{fault: func(path string) *fault.Error {
			return fault.Invalid(fault.CodeMixedScripts, fmt.Sprintf("%s has %s. Write each word in one script.", path, names.Describe(word, scripts)))
		}}
		return failed.under(field.JSONName())
	}
}
