// Package requestsubtype keeps the subtypes of employee requests, such as vacation or the swap of a
// shift. Each tenant starts with one subtype per request type.
package requestsubtype

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// subtype has the methods that the messages of all types have in common.
type subtype interface {
	proto.Message
	GetId() int64
	GetName() string
	GetDescription() string
	GetVersion() string
	GetTranslations() []*timekeepingv1.RequestSubtypeTranslation
}

// requestType is a type of request. It corresponds to a property of RequestSubtype.
type requestType struct {
	id               int64
	name, symbolicID string
	field            protoreflect.Name
	// subtype is the name of the initial subtype.
	subtype string
}

// requestTypes returns all types. Their ids are also the ids of the initial subtypes.
func requestTypes() []requestType {
	return []requestType{
		{1, "Time Off", "time_off_request", "time_off_request", "Time off"},
		{2, "Availability", "availability_request", "availability_request", "Availability"},
		{3, "Availability Pattern", "availability_pattern_request", "availability_pattern_request", "Availability pattern"},
		{4, "Cover", "cover_request", "cover_request", "Cover"},
		{5, "Swap", "swap_request", "swap_request", "Swap"},
		{6, "Open Shift", "open_shift_request", "open_shift_request", "Open shift"},
		{7, "Self Schedule", "self_schedule_request", "self_schedule_request", "Self schedule"},
		{8, "Leave of Absence", "leave_of_absence_request", "leave_of_absence_request", "Leave of absence"},
	}
}

// is reports whether a text is the name or the symbolic id of the type.
func (t requestType) is(text string) bool {
	return strings.EqualFold(t.name, text) || strings.EqualFold(t.symbolicID, text)
}

// message returns the type in the form of the API.
func (t requestType) message() *timekeepingv1.RequestType {
	return &timekeepingv1.RequestType{Id: t.id, Name: t.name, SymbolicId: t.symbolicID}
}

// first returns the initial subtype of the type.
func (t requestType) first() *timekeepingv1.RequestSubtype {
	out := &timekeepingv1.RequestSubtype{}
	m := out.ProtoReflect()
	inner := m.Mutable(m.Descriptor().Fields().ByName(t.field)).Message()
	set(inner, "name", protoreflect.ValueOfString(t.subtype))
	return out
}

// inner returns the subtype in a wrapper and its type; nil if the wrapper does not contain exactly
// one subtype.
func inner(w *timekeepingv1.RequestSubtype) (subtype, requestType) {
	m := w.ProtoReflect()
	var found subtype
	var of requestType
	for _, t := range requestTypes() {
		field := m.Descriptor().Fields().ByName(t.field)
		if !m.Has(field) {
			continue
		}
		held, ok := m.Get(field).Message().Interface().(subtype)
		if !ok || found != nil {
			return nil, requestType{}
		}
		found, of = held, t
	}
	return found, of
}

// set sets a field that the messages of all types have.
func set(m protoreflect.Message, field protoreflect.Name, value protoreflect.Value) {
	m.Set(m.Descriptor().Fields().ByName(field), value)
}

// clearFields clears fields that the messages of all types have.
func clearFields(m protoreflect.Message, fields ...protoreflect.Name) {
	for _, field := range fields {
		m.Clear(m.Descriptor().Fields().ByName(field))
	}
}

// add appends the subtype of a wrapper to the list of its type.
func add(lists *timekeepingv1.RequestSubtypeLists, w *timekeepingv1.RequestSubtype) {
	held, t := inner(w)
	m := lists.ProtoReflect()
	list := m.Mutable(m.Descriptor().Fields().ByName(t.field + "s")).List()
	list.Append(protoreflect.ValueOfMessage(held.ProtoReflect()))
}
