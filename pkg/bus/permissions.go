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

// User is a service as the broker knows it.
type User struct {
	// Name is that by which the service connects, and by which contracts call it.
	Name string
	// Streams are those that it fills and keeps configured.
	Streams []string
	// Buckets are the key-value buckets that it fills, and Watches those that it
	// follows.
	Buckets, Watches []string
	// Verifies names the service whose copies it compares with what their owners have,
	// without changing them.
	Verifies string
}

// Permissions are the subjects to which a user may publish and subscribe, in order.
type Permissions struct {
	Publish, Subscribe []string
	// AllowResponses says that it may reply to requests, wherever the replies go.
	AllowResponses bool
}

// Subjects outside of those that streams keep.
const (
	// wakeSubjects are those by which the processes of one database wake each other's
	// relay (pkg/outbox). They are named after the database and say nothing.
	wakeSubjects = "rotaloom_wake.*"
	// replicaPrefix begins those by which copies are compared with what their owner has
	// (pkg/replica).
	replicaPrefix = "rotaloom_replica."
)

// readOperations are those by which a copy is compared only (pkg/replica).
var readOperations = []string{"compare", "tenants"}

// Permissions returns the least that a user needs, by the events that are declared in
// files: who fills their streams, who consumes them, who owns the states that they
// carry and who keeps copies. Streams are found, and made when they are missing, by
// every program with events; only the one that fills a stream changes it, and none
// removes or purges one. A consumer may be made with its own filter only, so nobody
// reads what they do not consume.
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

// event adds what a user needs for a kind of event, and reports whether it consumes it.
func (p *Permissions) event(u User, e *optionsv1.Event) bool {
	subject, states := e.GetSubject(), e.GetReplication()
	if subject == "" {
		return false
	}
	if slices.Contains(u.Streams, StreamOf(subject)) {
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
	consumer := strings.Join([]string{StreamOf(subject), DurableOf(u.Name, subject)}, ".")
	p.publish("$JS.API.CONSUMER.CREATE."+consumer+"."+subject, "$JS.API.CONSUMER.INFO."+consumer,
		"$JS.API.CONSUMER.MSG.NEXT."+consumer, "$JS.ACK."+consumer+".>")
	if states != nil {
		p.publish(replicaPrefix + states.GetOwner() + "." + states.GetTopic() + ".*")
		p.Subscribe = append(p.Subscribe, replicaPrefix+states.GetOwner()+".announced")
	}
	return true
}

func (p *Permissions) publish(subjects ...string) { p.Publish = append(p.Publish, subjects...) }
