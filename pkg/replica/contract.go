package replica

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/bus"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Contract is the replication contract of an event: the options that describe its states.
type Contract struct {
	// Event is the message type, Subject the subject that it is published under.
	Event   protoreflect.MessageDescriptor
	Subject string
	// Owner is the service that owns the states; Topic is its name for them.
	Owner, Topic string
	// Consumers are the services that consume the event.
	Consumers []string

	states        protoreflect.FieldDescriptor // nil when the event is a state
	key           protoreflect.FieldDescriptor
	version       protoreflect.FieldDescriptor
	sharedVersion bool // The version is a field of the event.
	deleted       protoreflect.FieldDescriptor
	complete      protoreflect.FieldDescriptor
	fingerprint   protoreflect.FieldDescriptor
}

var errNotReplicated = errors.New("the event has no replication options")

// ReadContract reads the contract of an event. It fails if the event carries no states, or if its
// options do not match its fields.
func ReadContract(event protoreflect.MessageDescriptor) (*Contract, error) {
	c, err := readContract(event)
	if err != nil {
		return nil, fmt.Errorf("replica: %s: %w", event.FullName(), err)
	}
	return c, nil
}

func readContract(event protoreflect.MessageDescriptor) (*Contract, error) {
	subject, err := bus.EventSubject(event)
	if err != nil {
		return nil, err
	}
	option, _ := proto.GetExtension(event.Options(), optionsv1.E_Event).(*optionsv1.Event)
	says := option.GetReplication()
	if says == nil {
		return nil, errNotReplicated
	}
	c := &Contract{
		Event: event, Subject: subject, Owner: says.GetOwner(), Topic: says.GetTopic(), Consumers: option.GetConsumers(),
	}
	if domain := strings.Split(subject, ".")[1]; c.Owner != domain {
		return nil, fmt.Errorf("its owner is %q, and it is published by %q", c.Owner, domain)
	}
	if c.Topic == "" {
		return nil, errors.New("it has no topic")
	}
	return c, c.fields(says)
}

// fields looks up the fields that the options name.
func (c *Contract) fields(says *optionsv1.Replication) error {
	state := c.Event
	if name := says.GetStates(); name != "" {
		c.states = c.Event.Fields().ByName(protoreflect.Name(name))
		if c.states == nil || !c.states.IsList() || c.states.Message() == nil {
			return fmt.Errorf("%q is not a list of messages", name)
		}
		state = c.states.Message()
	}
	var errs []error
	find := func(in protoreflect.MessageDescriptor, name string, kind protoreflect.Kind, list bool) protoreflect.FieldDescriptor {
		if name == "" {
			return nil
		}
		field := in.Fields().ByName(protoreflect.Name(name))
		if field == nil || field.Kind() != kind || field.IsList() && !list {
			errs = append(errs, fmt.Errorf("%s has no field %q of kind %s", in.FullName(), name, kind))
			return nil
		}
		return field
	}
	c.key = find(state, says.GetKey(), protoreflect.Int64Kind, true)
	c.sharedVersion = c.states != nil && state.Fields().ByName(protoreflect.Name(says.GetVersion())) == nil
	in := state
	if c.sharedVersion {
		in = c.Event
	}
	c.version = find(in, says.GetVersion(), protoreflect.Int64Kind, false)
	c.deleted = find(state, says.GetDeleted(), protoreflect.BoolKind, false)
	c.complete = find(state, says.GetComplete(), protoreflect.BoolKind, false)
	c.fingerprint = find(state, says.GetMark(), protoreflect.Int64Kind, false)
	if says.GetKey() == "" || says.GetVersion() == "" {
		errs = append(errs, errors.New("it needs a key and a version"))
	}
	return errors.Join(errs...)
}

// steps reports whether states may be steps.
func (c *Contract) steps() bool { return c.complete != nil }

// state is the part of an event about one key.
type state struct {
	key, version, fingerprint int64
	deleted, whole            bool
	message, event            protoreflect.Message
}

// appendStates appends the states of an event.
func (c *Contract) appendStates(to []state, event protoreflect.Message) []state {
	if c.states == nil {
		return c.appendState(to, event, event)
	}
	list := event.Get(c.states).List()
	for i := range list.Len() {
		to = c.appendState(to, event, list.Get(i).Message())
	}
	return to
}

func (c *Contract) appendState(to []state, event, message protoreflect.Message) []state {
	s := state{message: message, event: event, whole: true}
	if from := message; c.sharedVersion {
		s.version = event.Get(c.version).Int()
	} else {
		s.version = from.Get(c.version).Int()
	}
	s.fingerprint = s.version
	if c.fingerprint != nil {
		s.fingerprint = message.Get(c.fingerprint).Int()
	}
	if c.deleted != nil {
		s.deleted = message.Get(c.deleted).Bool()
	}
	if c.complete != nil {
		s.whole = message.Get(c.complete).Bool()
	}
	if !c.key.IsList() {
		s.key = message.Get(c.key).Int()
		return append(to, s)
	}
	keys := message.Get(c.key).List()
	to = slices.Grow(to, keys.Len())
	for i := range keys.Len() {
		s.key = keys.Get(i).Int()
		to = append(to, s)
	}
	return to
}
