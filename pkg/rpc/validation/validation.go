// Package validation finds the requests with protovalidate rules, and turns broken rules into
// faults.
package validation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Fault names the rules that a request breaks, without showing the rules themselves. The first one
// is the error. Its details have the others as errors, and all of them as violations.
func Fault(input protoreflect.MessageDescriptor, err error) error {
	var broken *protovalidate.ValidationError
	if !errors.As(err, &broken) || len(broken.Violations) == 0 {
		return fmt.Errorf("validating the request: %w", err)
	}
	var faults []error
	var further []*commonv1.ErrorBody
	for i, v := range broken.Violations[:min(len(broken.Violations), fault.MaxViolations)] {
		f := fault.Invalid(fault.CodeValue, violationText(input, v))
		if path := jsonPath(input, v.Proto.GetField().GetElements()); path != "" {
			f = f.WithMembers(path)
		}
		faults = append(faults, f)
		if i > 0 {
			further = append(further, f.Body())
		}
	}
	joined := fault.FromError(fault.Join(faults...))
	if len(further) == 0 {
		return joined
	}
	return joined.WithDetails(&commonv1.ErrorDetails{Errors: further, Violations: joined.Details.GetViolations()})
}

func violationText(input protoreflect.MessageDescriptor, v *protovalidate.Violation) string {
	problem := v.Proto.GetMessage()
	if problem == "" {
		problem = "it breaks the rule " + v.Proto.GetRuleId()
	}
	path := jsonPath(input, v.Proto.GetField().GetElements())
	if path == "" {
		return "The request is not valid: " + problem + "."
	}
	return "The value of " + path + " is not valid: " + problem + "."
}

// jsonPath formats a path with the names that callers know.
func jsonPath(desc protoreflect.MessageDescriptor, elements []*validate.FieldPathElement) string {
	var path strings.Builder
	for _, element := range elements {
		name := element.GetFieldName()
		if desc != nil {
			if field := desc.Fields().ByName(protoreflect.Name(name)); field != nil {
				name, desc = field.JSONName(), valueMessage(field)
			}
		}
		if path.Len() > 0 {
			path.WriteByte('.')
		}
		path.WriteString(name)
		path.WriteString(formatSubscript(element))
	}
	return path.String()
}

func formatSubscript(element *validate.FieldPathElement) string {
	switch element.WhichSubscript() {
	case validate.FieldPathElement_Index_case:
		return "[" + strconv.FormatUint(element.GetIndex(), 10) + "]"
	case validate.FieldPathElement_StringKey_case:
		return "." + element.GetStringKey()
	case validate.FieldPathElement_IntKey_case:
		return "." + strconv.FormatInt(element.GetIntKey(), 10)
	case validate.FieldPathElement_UintKey_case:
		return "." + strconv.FormatUint(element.GetUintKey(), 10)
	case validate.FieldPathElement_BoolKey_case:
		return "." + strconv.FormatBool(element.GetBoolKey())
	default:
		return ""
	}
}

// valueMessage returns the message type that a field holds, or nil.
func valueMessage(field protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	if field.IsMap() {
		return field.MapValue().Message()
	}
	return field.Message()
}

// HasRules reports whether a message type, or one nested in it, has protovalidate rules.
func HasRules(desc protoreflect.MessageDescriptor) bool {
	return hasRules(desc, map[protoreflect.FullName]bool{})
}

func hasRules(desc protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if seen[desc.FullName()] {
		return false
	}
	seen[desc.FullName()] = true
	if proto.HasExtension(desc.Options(), validate.E_Message) {
		return true
	}
	for i := range desc.Oneofs().Len() {
		if proto.HasExtension(desc.Oneofs().Get(i).Options(), validate.E_Oneof) {
			return true
		}
	}
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		if proto.HasExtension(field.Options(), validate.E_Field) {
			return true
		}
		if below := valueMessage(field); below != nil && hasRules(below, seen) {
			return true
		}
	}
	return false
}
