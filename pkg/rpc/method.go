package rpc

import (
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc/validation"
)

// healthService is the only service without one of our contracts.
const healthService = "/grpc.health.v1.Health/"

// A method holds the chain's data about one operation. The chain looks it up once a call.
type method struct {
	name   string
	policy *policy.Method
	// broken is the reason why the method has no policy; such a method cannot be called.
	broken error
	// health marks the calls that ask for the health of the service.
	health bool
	// rules reports whether the request type has validation rules.
	rules bool
	// seconds and codes appear with the first call, so that a process has no series of unused methods.
	seconds atomic.Pointer[prometheus.Observer]
	codes   [codes.Unauthenticated + 1]atomic.Pointer[prometheus.Counter]
}

func (ch *Chain) method(name string) *method {
	if m, ok := ch.methods.Load(name); ok {
		return m.(*method)
	}
	m := &method{name: name, health: strings.HasPrefix(name, healthService)}
	m.policy, m.broken = ch.policies.Method(name)
	if m.health {
		m.policy, m.broken = &policy.Method{Name: name, Public: true}, nil
	} else if m.broken == nil {
		m.rules = validation.HasRules(m.policy.Input)
	}
	// gRPC passes only names of registered methods, so this map is bounded.
	kept, _ := ch.methods.LoadOrStore(name, m)
	return kept.(*method)
}

// knownMethod returns a registered method, or nil for any other name.
func (ch *Chain) knownMethod(name string) *method {
	if m, ok := ch.methods.Load(name); ok {
		return m.(*method)
	}
	return nil
}
