package bus

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// User is a service as a user of the broker.
type User struct {
	// Name is the user name, which is also the service's name in contracts.
	Name string
	// Streams are the streams that the service fills and configures.
	Streams []string
	// Buckets are the key-value buckets that the service fills, and Watches those that it watches.
	Buckets, Watches []string
	// Verifies is the service whose copies this user compares with their owners, without changing
	// them.
	Verifies string
}

// Permissions are the subjects that a user may publish and subscribe to, in order.
type Permissions struct {
	Publish, Subscribe []string
	// AllowResponses lets the user reply to requests, on any reply subject.
	AllowResponses bool
}

// Subjects that belong to no stream.
const (
	// On wakeSubjects, the processes of one database wake each other's relay (pkg/outbox). Each
	// subject is named after a database; its messages are empty.
	wakeSubjects = "rotaloom_wake.*"
	// replicaPrefix begins the subjects of comparisons between copies and owners (pkg/replica).
	replicaPrefix = "rotaloom_replica."
)

// readOperations are the operations that only compare a copy (pkg/replica).
var readOperations = []string{"compare", "tenants"}

// Permissions returns the minimal permissions of a user. It derives them from the events in files:
// the domain that fills the stream, the consumers, the owner of the states, and the services that
// keep copies. Every program with events may look up streams and create missing ones. Only the
// service that fills a stream may change it, and no user may delete or purge one. A consumer can be
// created only with its own filter, so no user reads events that it does not consume.
func (u User) Permissions(files *protoregistry.Files) (Permissions, error) {
	p := Permissions{Subscribe: []string{natsconn.InboxPrefix(u.Name) + ".>"}}
	streams, err := Streams(files, Limits{})
	if err != nil {
		return p, err
	}
	consumes := false
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			option, _ := proto.GetExtension(file.Messages().Get(i).Options(), optionsv1.E_Event).(*optionsv1.Event)
			consumes = p.event(u, option) || consumes
		}
		return true
	})
	if consumes || len(u.Streams) > 0 {
		for _, s := range streams {
			p.publish("$JS.API.STREAM.INFO."+s.Name, "$JS.API.STREAM.CREATE."+s.Name)
		}
	}
	for _, s := range u.Streams {
		p.publish("$JS.API.STREAM.UPDATE."+s, wakeSubjects)
		p.Subscribe = append(p.Subscribe, wakeSubjects)
	}
	for _, b := range u.Buckets {
		p.publish("$JS.API.INFO", "$JS.API.STREAM.INFO.KV_"+b, "$JS.API.STREAM.CREATE.KV_"+b, "$JS.API.STREAM.UPDATE.KV_"+b, "$KV."+b+".>")
	}
	for _, b := range u.Watches {
		p.publish("$JS.API.STREAM.INFO.KV_"+b, "$JS.API.CONSUMER.CREATE.KV_"+b+".*.$KV."+b+".>", "$JS.API.CONSUMER.DELETE.KV_"+b+".*", "$JS.API.CONSUMER.INFO.KV_"+b+".*")
	}
	slices.Sort(p.Publish)
	slices.Sort(p.Subscribe)
	p.Publish, p.Subscribe = slices.Compact(p.Publish), slices.Compact(p.Subscribe)
	return p, nil
}

// event adds the permissions that a user needs for an event, and reports whether the user consumes
// it.
func (p *Permissions) event(u User, e *optionsv1.Event) bool {
	subject, states := e.GetSubject(), e.GetReplication()
	if subject == "" {
		return false
	}
	if slices.Contains(u.Streams, StreamName(subject)) {
		p.publish(subject)
	}
	if states != nil && states.GetOwner() == u.Name {
		p.AllowResponses = true
		p.publish(replicaPrefix + u.Name + ".announced")
		p.Subscribe = append(p.Subscribe, replicaPrefix+u.Name+"."+states.GetTopic()+".*")
	}
	if states != nil && slices.Contains(e.GetConsumers(), u.Verifies) {
		for _, operation := range readOperations {
			p.publish(replicaPrefix + states.GetOwner() + "." + states.GetTopic() + "." + operation)
		}
	}
	if !slices.Contains(e.GetConsumers(), u.Name) {
		return false
	}
	consumer := strings.Join([]string{StreamName(subject), DurableName(u.Name, subject)}, ".")
	p.publish("$JS.API.CONSUMER.CREATE."+consumer+"."+subject, "$JS.API.CONSUMER.INFO."+consumer,
		"$JS.API.CONSUMER.MSG.NEXT."+consumer, "$JS.ACK."+consumer+".>")
	if states != nil {
		p.publish(replicaPrefix + states.GetOwner() + "." + states.GetTopic() + ".*")
		p.Subscribe = append(p.Subscribe, replicaPrefix+states.GetOwner()+".announced")
	}
	return true
}

func (p *Permissions) publish(subjects ...string) { p.Publish = append(p.Publish, subjects...) }
